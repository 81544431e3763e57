// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** It does not know where it belongs, so what is changed in it counts for nobody. */
@Entity
public class Page {

    @Id
    private long id;

    private String text;

    protected Page() {}

    public Page(long id, String text) {
        this.id = id;
        this.text = text;
    }

    public void write(String newText) {
        text = newText;
    }
}
