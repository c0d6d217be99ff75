// refused: conform to 'Copyable'
// A permit in a property of a view; that is what the box is for.

import Cordon
import SwiftUI

struct Sheet: View {
    @State var permit: EgressPermit?
    var body: some View { EmptyView() }
}
