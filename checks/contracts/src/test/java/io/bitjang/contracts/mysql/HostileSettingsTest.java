// SPDX-License-Identifier: Apache-2.0
package io.bitjang.contracts.mysql;

import io.bitjang.testkit.OnDatabase;
import io.bitjang.testkit.contract.HostileSettingsContract;

@OnDatabase("mysql")
class HostileSettingsTest extends HostileSettingsContract {}
