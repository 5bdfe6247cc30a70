// TLS with use_task: a client and a server over asio::ssl::stream with a certificate made at run time; handshakes and reads
// under deadlines, and a client that does not trust the certificate.
#include <roost/asio/async_run.hpp>
#include <roost/asio/use_task.hpp>
#include <roost/roost.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <unistd.h>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace net = boost::asio;
using namespace std::chrono_literals;
using net::ip::tcp;
using roost::task;
using roost::use_task;
using tls_stream = net::ssl::stream<tcp::socket>;

// --- a certificate of its own ------------------------------------------------------------------------------------------------------

struct identity {
    std::string key;
    std::string certificate;
};

std::string text_of(BIO* memory) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory, &data);
    return std::string(data, static_cast<std::size_t>(size));
}

identity self_signed() {
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
    const std::unique_ptr<X509, void (*)(X509*)> cert(X509_new(), X509_free);
    if (!key || !cert) {
        throw std::runtime_error("no key");
    }
    ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
    X509_set_pubkey(cert.get(), key.get());
    X509_NAME* name = X509_get_subject_name(cert.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(cert.get(), name);
    X509_sign(cert.get(), key.get(), EVP_sha256());
    const std::unique_ptr<BIO, int (*)(BIO*)> key_text(BIO_new(BIO_s_mem()), BIO_free);
    const std::unique_ptr<BIO, int (*)(BIO*)> cert_text(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    PEM_write_bio_X509(cert_text.get(), cert.get());
    return {text_of(key_text.get()), text_of(cert_text.get())};
}

// --- the server --------------------------------------------------------------------------------------------------------------------

// begin session
task<> session(tls_stream peer) {
    const auto [refused] =
        co_await roost::fail_after(5s, peer.async_handshake(net::ssl::stream_base::server, net::as_tuple(use_task)));
    if (refused) {
        co_return;  // a client that does not trust us
    }
    std::string line;
    co_await roost::fail_after(5s, net::async_read_until(peer, net::dynamic_buffer(line), '\n', use_task));
    if (line == "wait\n") {
        co_await roost::sleep_for(1h);
    }
    co_await roost::sleep_for(20ms);  // the work
    co_await roost::fail_after(5s, net::async_write(peer, net::buffer(line), use_task));
}
// end session

task<> accept_all(roost::scope& s, tcp::acceptor& door, net::ssl::context& secrets) {
    for (;;) {
        tcp::socket peer = co_await door.async_accept(use_task);
        s.launch("session", session(tls_stream(std::move(peer), secrets)));
    }
}
task<> serve(tcp::acceptor& door, net::ssl::context& secrets) {
    co_await roost::with_scope(accept_all, std::ref(door), std::ref(secrets));
}

// --- the client --------------------------------------------------------------------------------------------------------------------

// begin client
task<std::string> ask(net::io_context& io, tcp::endpoint where, net::ssl::context& trusted, std::string line,
                      int patience = 10'000) {
    tls_stream s(io, trusted);
    co_await s.next_layer().async_connect(where, use_task);
    co_await roost::fail_after(5s, s.async_handshake(net::ssl::stream_base::client, use_task));
    co_await net::async_write(s, net::buffer(line), use_task);
    std::string answer;
    for (int tries = 0; tries < patience; ++tries) {  // looks up every two milliseconds, and loses nothing
        const auto read =
            co_await roost::move_on_after(2ms, net::async_read_until(s, net::dynamic_buffer(answer), '\n', use_task));
        if (read) {
            co_return answer;
        }
    }
    co_return "nothing in time";
}
// end client

task<std::string> talk(roost::scope& s, net::io_context& io, net::ssl::context& secrets, net::ssl::context& trusted,
                       net::ssl::context& strangers) {
    tcp::acceptor door(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
    const roost::job server = s.launch("server", serve(door, secrets));
    std::string why;
    const std::string answer = co_await ask(io, door.local_endpoint(), trusted, "hello\n");
    if (answer != "hello\n") {
        why = "no echo";
    }
    const std::string late = co_await ask(io, door.local_endpoint(), trusted, "wait\n", 25);
    if (late != "nothing in time") {
        why = "the deadline did not end a read over TLS";
    }
    bool distrusted = false;
    try {
        co_await ask(io, door.local_endpoint(), strangers, "hello\n");
    } catch (const boost::system::system_error&) {
        distrusted = true;
    }
    if (!distrusted) {
        why = "a certificate that is not trusted was accepted";
    }
    server.cancel();
    co_await server.join();  // it refers to the door, which ends with this body
    co_return why;
}
task<std::string> both(net::io_context& io, net::ssl::context& secrets, net::ssl::context& trusted,
                       net::ssl::context& strangers) {
    co_return co_await roost::with_scope(talk, std::ref(io), std::ref(secrets), std::ref(trusted), std::ref(strangers));
}

int main() {
    ::alarm(60);
    const identity mine = self_signed();
    net::ssl::context secrets(net::ssl::context::tls_server);
    secrets.use_certificate(net::buffer(mine.certificate), net::ssl::context::pem);
    secrets.use_private_key(net::buffer(mine.key), net::ssl::context::pem);
    net::ssl::context trusted(net::ssl::context::tls_client);
    trusted.add_certificate_authority(net::buffer(mine.certificate));
    trusted.set_verify_mode(net::ssl::verify_peer);
    net::ssl::context strangers(net::ssl::context::tls_client);
    strangers.set_verify_mode(net::ssl::verify_peer);

    net::io_context io;
    const std::string why = roost::run(io, both(io, secrets, trusted, strangers));
    if (!why.empty()) {
        std::puts(why.c_str());
    }
    return why.empty() ? 0 : 1;
}
