// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Cacheable;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OneToOne;
import jakarta.persistence.Version;
import java.util.ArrayList;
import java.util.List;

/** An aggregate with an id of two attributes, and parts of all kinds; it may be kept in a cache. */
@Entity
@Cacheable
@IdClass(ContractId.class)
public class Contract {

    @Id
    private String series;

    @Id
    private int number;

    @Version
    private int version;

    @OneToOne(mappedBy = "contract", cascade = CascadeType.ALL, orphanRemoval = true)
    private Seal seal;

    @OneToMany(mappedBy = "contract", cascade = CascadeType.ALL, orphanRemoval = true)
    private List<Article> articles = new ArrayList<>();

    /** The key of the contract stands in their rows, and they don't know it. */
    @OneToMany(cascade = CascadeType.ALL, orphanRemoval = true)
    @JoinColumn(name = "contract_series")
    @JoinColumn(name = "contract_number")
    private List<Page> pages = new ArrayList<>();

    protected Contract() {}

    public Contract(ContractId id) {
        series = id.series();
        number = id.number();
    }

    public int version() {
        return version;
    }

    public Seal seal() {
        return seal;
    }

    public void close(String by) {
        seal = new Seal(this, by);
    }

    public void open() {
        seal = null;
    }

    public List<Article> articles() {
        return articles;
    }

    public void add(long id, String text) {
        articles.add(new Article(id, this, text));
    }

    public List<Page> pages() {
        return pages;
    }
}
