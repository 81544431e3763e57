// SPDX-License-Identifier: Apache-2.0
/** What the tests of races have in common. They are in the packages of the classes whose promises they try. */
@NullMarked
package io.bitjang.races;

import org.jspecify.annotations.NullMarked;
