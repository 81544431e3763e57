// SPDX-License-Identifier: Apache-2.0
package io.bitjang.internal.lease;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The mutants are tried seldom; that their snippets are still there is seen in every build. */
class MutantsAreFreshTest {

    @Test
    void every_mutant_finds_its_snippet_once() throws IOException {
        for (List<Mutant> mutants : List.of(Mutants.ALL, Mutants.UNSEEN, LineMutants.ALL, LineMutants.UNSEEN)) {
            for (Mutant mutant : mutants) {
                mutant.source();
            }
        }
    }
}
