// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Version;

/** An aggregate of one entity, whose ids are texts. */
@Entity
public class Account {

    @Id
    private String name;

    @Version
    private int version;

    private long balance;

    protected Account() {}

    public Account(String name, long balance) {
        this.name = name;
        this.balance = balance;
    }

    public String name() {
        return name;
    }

    public long balance() {
        return balance;
    }

    public void add(long amount) {
        balance += amount;
    }
}
