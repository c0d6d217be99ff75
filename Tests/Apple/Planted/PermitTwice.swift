// refused: consumed more than once
// A permit is used twice.

import Cordon
import Foundation

func twice(_ protection: AppProtection, _ permit: consuming EgressPermit, _ printer: some Printer) async throws {
    try await protection.outlets.print(Data(), title: "", of: .personal, on: printer, permit: permit)
    try await protection.outlets.print(Data(), title: "", of: .personal, on: printer, permit: permit)
}
