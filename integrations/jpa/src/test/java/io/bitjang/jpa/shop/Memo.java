// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** An entity without a version. */
@Entity
public class Memo {

    @Id
    private long id;

    protected Memo() {}

    public Memo(long id) {
        this.id = id;
    }
}
