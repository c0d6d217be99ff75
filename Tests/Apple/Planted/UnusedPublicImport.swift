// refused: was not used in public declarations
// What warnings are errors for.

public import UIKit

func nothing() {}
