// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import io.bitjang.jpa.PartOf;
import jakarta.persistence.CascadeType;
import jakarta.persistence.CollectionTable;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A part of an order. */
@Entity
public class OrderLine {

    @Id
    private long id;

    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "order_number")
    @PartOf
    private Order order;

    private String product;
    private int quantity;

    @ElementCollection
    @CollectionTable(name = "line_wish", joinColumns = @JoinColumn(name = "line_id"))
    private Set<String> wishes = new HashSet<>();

    @OneToMany(mappedBy = "line", cascade = CascadeType.ALL, orphanRemoval = true)
    private List<LineNote> notes = new ArrayList<>();

    protected OrderLine() {}

    OrderLine(long id, Order order, String product, int quantity) {
        this.id = id;
        this.order = order;
        this.product = product;
        this.quantity = quantity;
    }

    public long id() {
        return id;
    }

    public int quantity() {
        return quantity;
    }

    public void change(int newQuantity) {
        quantity = newQuantity;
    }

    public Set<String> wishes() {
        return wishes;
    }

    public List<LineNote> notes() {
        return notes;
    }

    public LineNote addNote(long noteId, String text) {
        LineNote note = new LineNote(noteId, this, text);
        notes.add(note);
        return note;
    }

    public void moveTo(Order other) {
        order = other;
    }

    void forgetOrder() {
        order = null;
    }
}
