// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.h2;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.HostileSettingsContract;

@OnDatabase("h2")
class HostileSettingsTest extends HostileSettingsContract {}
