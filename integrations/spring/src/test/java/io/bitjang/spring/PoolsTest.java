// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.bitjang.LockId;
import io.bitjang.LockManager;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** Many requests at a time, on a business pool of 5 connections and one of 4 for the locks. */
class PoolsTest extends OnSpring {

    private static final int REQUESTS = 50;
    private static final boolean VIRTUAL = Runtime.version().feature() >= 21;

    @Configuration
    @EnableTransactionManagement
    @EnableLocking
    static class Application {
        @Bean
        JdbcTransactionManager transactions(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        Requests requests(DataSource dataSource, LockManager manager) {
            return new Requests(new JdbcTemplate(dataSource), manager);
        }
    }

    static class Requests {
        private final JdbcTemplate jdbc;
        private final LockManager manager;

        Requests(JdbcTemplate jdbc, LockManager manager) {
            this.jdbc = jdbc;
            this.manager = manager;
        }

        /** Has a connection of the business pool while it takes a lock. */
        @Transactional
        public int edits(long account, int request) {
            add(account);
            LockId id = manager.tryLock("request", account + "-" + request);
            manager.checkLock(id);
            manager.releaseLock(id);
            return 1;
        }

        /** All want the same lock. */
        @Locked(value = "#{#account}", waitFor = "30s")
        @Transactional
        public int adds(long account) {
            Integer now =
                    jdbc.queryForObject("SELECT balance FROM spring_account WHERE id = ?", Integer.class, account);
            return jdbc.update("UPDATE spring_account SET balance = ? WHERE id = ?", now + 1, account);
        }

        private void add(long account) {
            jdbc.update("UPDATE spring_account SET balance = balance + 1 WHERE id = ?", account);
        }

        /** Has a connection of the business pool, and takes a lock of its own inside. */
        @Transactional
        public int outer(Requests self, long account, int request) {
            jdbc.queryForList("SELECT 1");
            return self.inner(account, request);
        }

        @Locked("#{#account}-#{#request}")
        public int inner(long account, int request) {
            add(account);
            return 1;
        }
    }

    private interface Request {
        int serve(Requests requests, int number);
    }

    private void all(ExecutorService executor, Request request) throws Exception {
        AnnotationConfigApplicationContext context = context(Application.class);
        Requests requests = context.getBean(Requests.class);
        CountDownLatch together = new CountDownLatch(REQUESTS);
        List<Callable<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            int number = i;
            calls.add(() -> {
                together.countDown();
                await(together);
                return request.serve(requests, number);
            });
        }
        int served = 0;
        for (Future<Integer> answer :
                executor.invokeAll(calls, PATIENCE.toSeconds(), java.util.concurrent.TimeUnit.SECONDS)) {
            served += result(answer);
        }
        assertThat(served).isEqualTo(REQUESTS);
        assertThat(balance()).isEqualTo(REQUESTS);
    }

    @Test
    void transactions_that_take_an_edit_lock_each_do_not_starve() throws Exception {
        all(threads, (requests, number) -> requests.edits(account, number));
    }

    @Test
    void calls_that_want_the_same_lock_come_one_after_the_other() throws Exception {
        all(threads, (requests, number) -> requests.adds(account));
    }

    @Test
    void transactions_that_take_a_lock_inside_do_not_starve() throws Exception {
        all(threads, (requests, number) -> requests.outer(requests, account, number));
    }

    /** On a JVM without virtual threads, the same on threads of its own. */
    @Test
    void virtual_threads_take_locks_as_well() throws Exception {
        ExecutorService executor = VIRTUAL
                ? (ExecutorService) Executors.class
                        .getMethod("newVirtualThreadPerTaskExecutor")
                        .invoke(null)
                : Executors.newCachedThreadPool();
        try {
            all(executor, (requests, number) -> {
                assertThat(isVirtual(Thread.currentThread())).isEqualTo(VIRTUAL);
                return requests.adds(account);
            });
        } finally {
            executor.shutdownNow();
        }
    }

    private static boolean isVirtual(Thread thread) {
        try {
            return VIRTUAL && (Boolean) Thread.class.getMethod("isVirtual").invoke(thread);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
