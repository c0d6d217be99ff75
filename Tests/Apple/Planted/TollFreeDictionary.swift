// refused: toll-free cast
// A cast that only an Apple compiler knows.

import Foundation
import Security

func find() -> OSStatus { SecItemCopyMatching([kSecClass: kSecClassGenericPassword] as CFDictionary, nil) }
