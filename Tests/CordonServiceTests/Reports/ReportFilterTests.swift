import CordonIdentity
import CordonProtocol
import CordonTestSupport
import Foundation
import Testing

@testable import CordonService

/// SRV-UI-19: words by which reports are filtered, kept under names.
@Suite struct ReportFilterTests {
    private func save(
        _ name: String, _ test: TestOrganisation, _ report: ReportFilter.Report = .drift, _ word: String = "till",
        as administrator: Administrator? = nil
    ) async throws -> ReportFilter {
        try await test.service.administration.reportFilters.saveReportFilter(
            name, of: report, search: word, as: administrator ?? test.owner)
    }

    private func names(_ test: TestOrganisation, as administrator: Administrator? = nil) async throws -> [String] {
        try await test.service.administration.reportFilters.reportFilters(as: administrator ?? test.owner).map(\.name)
    }

    @Test func `callers see the filters that are their own, ordered by name, and remove no other's`() async throws {
        let test = try await TestOrganisation.withPeople()
        let reader = test.administrator(.reader)
        let filters = test.service.administration.reportFilters
        let tills = try await save("Tills", test)
        _ = try await save("lost phones", test, .wipes, "lost")
        let other = try await save("Tills", test, as: reader)
        #expect(try await names(test) == ["lost phones", "Tills"])
        #expect(try await names(test, as: reader) == ["Tills"])
        let refused = await failure { try await filters.removeReportFilter(other.id, as: test.owner) }
        #expect(refused?.code == .notFound)
        #expect(try await names(test, as: reader) == ["Tills"])
        try await filters.removeReportFilter(tills.id, as: test.owner)
        #expect(try await names(test) == ["lost phones"])
        #expect(try await test.records().suffix(4).map(\.action).last == "reportFilter.remove")
        let stranger = Administrator(tenant: TestOrganisation.tenant, id: "x", name: "X", roles: [])
        #expect(await failure { _ = try await names(test, as: stranger) }?.code == .forbidden)
        #expect(await failure { _ = try await save("Mine", test, as: stranger) }?.code == .forbidden)
    }

    @Test func `a filter needs a word and a name that the caller has not used, and one caller keeps so many`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        for (name, word, member) in [("", "till", "name"), ("Tills", "", "search")] {
            let error = await failure { _ = try await save(name, test, .drift, word) }
            #expect(error?.code == .invalid && error?.problems.map(\.member) == [member])
        }
        for number in 0..<ReportFilter.share { _ = try await save("Filter \(number)", test) }
        #expect(await failure { _ = try await save("filter 7", test) }?.problems.map(\.member) == ["name"])
        let full = await failure { _ = try await save("One more", test) }
        #expect(full?.code == .conflict && full?.hint == "Remove one of them first.")
        // Another caller is not kept from any.
        _ = try await save("One more", test, as: test.administrator(.reader))
    }

    @Test func `the filters of an administrator are in the export of their data, and go when it is erased`()
        async throws
    {
        let test = try await TestOrganisation.withPeople()
        let ada = Administrator(tenant: TestOrganisation.tenant, id: "oid-ada", name: "Ada", roles: [.reader])
        let filter = try await save("Tills", test, as: ada)
        _ = try await save("Mine", test)
        let requests = test.service.administration.personalData
        #expect(try await requests.exportUser("oid-ada", as: test.owner).reportFilters == [filter])
        #expect(try await requests.exportUser("oid-ben", as: test.owner).reportFilters == [])
        try await requests.eraseUser("oid-ada", as: test.owner)
        #expect(try await names(test, as: ada) == [])
        #expect(try await names(test) == ["Mine"])
    }
}
