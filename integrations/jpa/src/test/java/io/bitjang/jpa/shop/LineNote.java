// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import io.bitjang.jpa.PartOf;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;

/** A part of a part. */
@Entity
public class LineNote {

    @Id
    private long id;

    @ManyToOne(fetch = FetchType.LAZY)
    @PartOf
    private OrderLine line;

    private String text;

    protected LineNote() {}

    LineNote(long id, OrderLine line, String text) {
        this.id = id;
        this.line = line;
        this.text = text;
    }

    public void change(String newText) {
        text = newText;
    }
}
