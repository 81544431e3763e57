// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.postgresql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.HostileSettingsContract;

@OnDatabase("postgresql")
class HostileSettingsTest extends HostileSettingsContract {}
