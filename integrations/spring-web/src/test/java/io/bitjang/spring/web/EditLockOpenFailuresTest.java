// SPDX-License-Identifier: Apache-2.0
package io.bitjang.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.bitjang.LockData;
import io.bitjang.LockName;
import io.bitjang.LockingFailException;
import io.bitjang.Locks;
import io.bitjang.admin.LockAdmin;
import io.bitjang.testkit.TestDatabases;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lock was granted, and then something failed: nobody got its id, so nobody could give it back. */
class EditLockOpenFailuresTest {

    private static final String TAB = "tab-0001";

    private final LockName name = LockName.of("order", UUID.randomUUID().toString());
    private HikariDataSource pool;
    private Locks locks;

    @BeforeEach
    void start() {
        pool = TestDatabases.h2().pool(3);
        locks = Locks.create(pool);
    }

    @AfterEach
    void stop() {
        locks.close();
        pool.close();
    }

    private EditLocks editLocks(LockAdmin admin, Runnable changed) {
        EditLockSettings settings = EditLockSettings.ofTypes("order");
        return new EditLocks(locks.manager(), admin, new TypesPolicy(settings.types(), null), settings, changed);
    }

    /** The database is away for one list, this one counted from 1. */
    private LockAdmin failingAtList(int failing) {
        AtomicInteger lists = new AtomicInteger();
        return (LockAdmin) Proxy.newProxyInstance(
                LockAdmin.class.getClassLoader(), new Class<?>[] {LockAdmin.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("list") && lists.incrementAndGet() == failing) {
                        throw new LockingFailException(name, "away", null);
                    }
                    try {
                        return method.invoke(locks.admin(), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private boolean isHeld() {
        return locks.admin().find(name).filter(LockData::held).isPresent();
    }

    @Test
    void lock_that_could_not_be_counted_is_free_again() {
        EditLocks editLocks = editLocks(failingAtList(2), () -> {});

        assertThatThrownBy(() -> editLocks.open("order", name.id(), () -> "kim", TAB, null))
                .isInstanceOf(LockingFailException.class);

        assertThat(locks.admin().find(name)).isPresent();
        assertThat(isHeld()).isFalse();
        assertThat(editLocks.open("order", name.id(), () -> "lee", TAB, null).resumed())
                .isFalse();
    }

    @Test
    void lock_of_which_nobody_could_be_told_is_free_again() {
        EditLocks editLocks = editLocks(locks.admin(), () -> {
            throw new InternalError("no thread could be started");
        });

        assertThatThrownBy(() -> editLocks.open("order", name.id(), () -> "kim", TAB, null))
                .isInstanceOf(InternalError.class);

        assertThat(isHeld()).isFalse();
    }
}
