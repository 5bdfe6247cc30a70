// HikariCP: getConnection + close over a data source whose connections do nothing. Its defaults, except the size; the pool is
// filled before it is measured. Same protocol as harness.hpp; what the JVM needs to warm up is not measured.
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.PrintWriter;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.logging.Logger;
import javax.sql.DataSource;

class hikaricp {
    static class Nothing implements DataSource {
        public Connection getConnection() {
            return (Connection) Proxy.newProxyInstance(hikaricp.class.getClassLoader(), new Class<?>[] {Connection.class},
                (self, method, args) -> {
                    switch (method.getName()) {
                        case "isValid": return true;
                        case "getAutoCommit": return true;
                        case "isClosed": return false;
                        case "isReadOnly": return false;
                        case "getTransactionIsolation": return Connection.TRANSACTION_READ_COMMITTED;
                        case "getNetworkTimeout": return 0;
                        case "hashCode": return System.identityHashCode(self);
                        case "equals": return self == args[0];
                        case "toString": return "nothing";
                        default: return null;
                    }
                });
        }
        public Connection getConnection(String user, String password) { return getConnection(); }
        public PrintWriter getLogWriter() { return null; }
        public void setLogWriter(PrintWriter out) {}
        public void setLoginTimeout(int seconds) {}
        public int getLoginTimeout() { return 0; }
        public Logger getParentLogger() { return Logger.getGlobal(); }
        public <T> T unwrap(Class<T> type) throws SQLException { throw new SQLException("nothing to unwrap"); }
        public boolean isWrapperFor(Class<?> type) { return false; }
    }

    static HikariDataSource make(int resources) {
        HikariConfig c = new HikariConfig();
        c.setDataSource(new Nothing());
        c.setMaximumPoolSize(resources);
        c.setMinimumIdle(resources);
        return new HikariDataSource(c);
    }

    static void cycle(HikariDataSource pool, long n) throws Exception {
        for (long i = 0; i < n; i++) pool.getConnection().close();
    }

    static double batch(HikariDataSource pool, int threads, long n) throws Exception {
        if (threads == 1) {
            long start = System.nanoTime();
            cycle(pool, n);
            return System.nanoTime() - start;
        }
        CyclicBarrier together = new CyclicBarrier(threads);
        long[] began = new long[threads];
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int me = t;
            Thread one = new Thread(() -> {
                try {
                    together.await();
                    began[me] = System.nanoTime();
                    cycle(pool, n);
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            });
            one.start();
            all.add(one);
        }
        for (Thread one : all) one.join();
        long end = System.nanoTime();
        long start = end;
        for (long b : began) start = Math.min(start, b);
        return (end - start) / (double) threads;
    }

    public static void main(String[] args) throws Exception {
        String[][] cases = {{"pool/cycle_1t_4", "1", "4"}, {"pool/cycle_2t_4", "2", "4"}, {"pool/cycle_2t_2", "2", "2"},
            {"pool/cycle_2t_1", "2", "1"}};
        String name = "";
        int ms = 50;
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--list")) {
                for (String[] c : cases) System.out.println(c[0] + "\tHikariCP\tpeer");
                return;
            }
            if (args[i].equals("--case")) name = args[++i];
            else if (args[i].equals("--ms")) ms = Integer.parseInt(args[++i]);
        }
        for (String[] c : cases) {
            if (!c[0].equals(name)) continue;
            int threads = Integer.parseInt(c[1]);
            try (HikariDataSource pool = make(Integer.parseInt(c[2]))) {
                long warm = System.nanoTime() + 700_000_000L;   // until the compiler is done with it
                while (System.nanoTime() < warm) batch(pool, threads, 20_000);
                double slice = ms * 1e6 / 20;
                long n = 1000;
                while (batch(pool, threads, n) < slice) n *= 2;
                List<Double> each = new ArrayList<>();
                long ops = 0;
                long end = System.nanoTime() + ms * 1_000_000L;
                while (each.size() < 5 || System.nanoTime() < end) {
                    each.add(batch(pool, threads, n) / n);
                    ops += n * threads;
                }
                Collections.sort(each);
                System.out.println(name + " " + each.get(each.size() / 5) + " " + ops);
            }
            System.exit(0);
        }
        System.exit(1);
    }
}
