import CordonPolicy
import Testing

/// SDK-DT-05…16: the field's numbers of the places that data is saved to and opened from.
@Suite struct LocationNumberTests {
    @Test func `every place to save to has its documented number, and no other place has one`() {
        let documented: [Location: Int] = [
            .other: 0, .oneDriveForBusiness: 1, .sharePoint: 2, .box: 4, .dropbox: 8, .googleDrive: 16, .localDrive: 32,
            .cameraRoll: 64, .accountDocument: 128, .iManage: 256, .egnyte: 512,
        ]
        for place in Location.allCases { #expect(place.saveNumber == documented[place], "\(place)") }
    }

    @Test func `every place to open from has its documented number, and no other place has one`() {
        let documented: [Location: Int] = [
            .other: 0, .oneDriveForBusiness: 1, .sharePoint: 2, .camera: 4, .localStorage: 8, .photos: 16,
            .accountDocument: 32, .box: 64, .iManage: 128, .egnyte: 256,
        ]
        for place in Location.allCases { #expect(place.openNumber == documented[place], "\(place)") }
    }
}
