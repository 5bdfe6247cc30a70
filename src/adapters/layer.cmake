# One target per database, so that a program links only the client library it uses. Each is built when its library is found.
#
#   roost::adapters_sqlite      needs SQLite (libsqlite3-dev)
#   roost::adapters_postgres    needs libpq (libpq-dev)
#
# roost::adapters is all of them.

find_package(SQLite3 QUIET)
if(SQLite3_FOUND)
  roost_add_layer(adapters_sqlite FOLDER adapters/sqlite DEPENDS pool runtime)
  target_link_libraries(roost_adapters_sqlite PRIVATE SQLite::SQLite3)
else()
  message(STATUS "roost: SQLite was not found, so there is no adapter for it")
endif()

find_package(PostgreSQL QUIET)
if(PostgreSQL_FOUND)
  roost_add_layer(adapters_postgres FOLDER adapters/postgres DEPENDS pool runtime)
  target_link_libraries(roost_adapters_postgres PRIVATE PostgreSQL::PostgreSQL)
else()
  message(STATUS "roost: libpq was not found, so there is no adapter for PostgreSQL")
endif()

roost_add_group(adapters DEPENDS adapters_sqlite adapters_postgres)
