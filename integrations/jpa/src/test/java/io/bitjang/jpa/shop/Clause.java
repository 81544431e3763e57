// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import io.bitjang.jpa.PartOf;
import jakarta.persistence.FetchType;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.Version;

/** A part with a version of its own, as its kinds inherit it. */
@MappedSuperclass
abstract class Clause {

    @ManyToOne(fetch = FetchType.LAZY)
    @PartOf
    private Contract contract;

    @Version
    private int edition;

    Clause() {}

    Clause(Contract contract) {
        this.contract = contract;
    }

    public int edition() {
        return edition;
    }
}
