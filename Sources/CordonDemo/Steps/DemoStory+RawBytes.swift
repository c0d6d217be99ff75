internal import CordonPolicy
internal import Foundation

extension DemoStory {
    func readRawBytes(_ step: inout DemoStep) async throws(DemoError) {
        let planted = scan.markers.count
        let sealed = try scan.scan(stage.home(of: "worker").path)
        step.facts["filesRead"] = .integer(Int64(sealed.files))
        step.facts["bytesRead"] = .integer(Int64(sealed.bytes))
        step.facts["markersPlanted"] = .integer(Int64(planted))
        step.expect("none of the planted texts is readable", sealed.markers, is: 0)

        // The control: the same scanner on the same texts in the clear.
        let control = cast.folder.appending(path: "control")
        do {
            try FileManager.default.createDirectory(at: control, withIntermediateDirectories: true)
            try Data(scan.markers.joined(separator: " ").utf8).write(to: control.appending(path: "plain.txt"))
        } catch { throw DemoError("the control file cannot be written") }
        let plain = try scan.scan(control.path)
        step.expect("the scanner finds all of them in an unsealed copy", plain.markers, is: planted)
    }
}
