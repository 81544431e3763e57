// SPDX-License-Identifier: Apache-2.0
package io.bitjang.jpa.shop;

import jakarta.persistence.Embeddable;
import java.io.Serializable;

/** The attributes of a contract that tell it from others. */
@Embeddable
public record ContractId(String series, int number) implements Serializable {}
