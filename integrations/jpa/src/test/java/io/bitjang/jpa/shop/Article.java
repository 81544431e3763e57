// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A kind of clause. */
@Entity
public class Article extends Clause {

    @Id
    private long id;

    private String text;

    protected Article() {}

    Article(long id, Contract contract, String text) {
        super(contract);
        this.id = id;
        this.text = text;
    }

    public void write(String newText) {
        text = newText;
    }
}
