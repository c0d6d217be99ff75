import Foundation
import Testing

@testable import CordonVault

struct TreeNodesTests {
    private func node(_ slots: [UInt32]) -> TreeNode {
        let node = TreeNode(count: slots.count, capacity: 128, isDirty: false)
        for (child, slot) in slots.enumerated() { node[child].slot = slot }
        return node
    }

    private func leaf(_ index: Int64) -> TreePlace { TreePlace(level: 1, index: index) }

    @Test func `a reference is found of the node that was used last at a place, and no other node's is given for it`() {
        var nodes = TreeNodes()
        nodes.put(node([1, 2]), at: leaf(3))
        // So many places are shared by these two, whatever their number is.
        nodes.put(node([11, 12]), at: leaf(3 + 1 << 20))
        #expect(nodes.reference(1, ofLeaf: 3 + 1 << 20)?.slot == 12)
        #expect(nodes.reference(1, ofLeaf: 3) == nil)
        #expect(nodes.node(at: leaf(3))?[1].slot == 2)
        #expect(nodes.reference(1, ofLeaf: 3)?.slot == 2)
        #expect(nodes.reference(1, ofLeaf: 3 + 1 << 20) == nil)
    }

    @Test func `a node that is removed gives nothing any more, and leaves the one at the same place`() {
        var nodes = TreeNodes()
        nodes.put(node([1]), at: leaf(3))
        nodes.put(node([11]), at: leaf(3 + 1 << 20))
        nodes.remove(leaf(3))
        #expect(nodes.reference(0, ofLeaf: 3 + 1 << 20)?.slot == 11)
        nodes.remove(leaf(3 + 1 << 20))
        #expect(nodes.reference(0, ofLeaf: 3 + 1 << 20) == nil)
        nodes.put(node([5]), at: leaf(7))
        nodes.removeAll()
        #expect(nodes.reference(0, ofLeaf: 7) == nil)
        #expect(nodes.node(at: leaf(7)) == nil)
    }

    @Test
    func `a slot is told ahead in a node as it was loaded, and only where all of its blocks lie beside each other`() {
        func loaded(_ slots: [UInt32]) -> TreeNode {
            let memory = RawMemory(slots.count * Layout.referenceSize)
            for (child, slot) in slots.enumerated() { memory.store(slot, at: child * Layout.referenceSize) }
            let node = TreeNode(count: slots.count, capacity: 128, isDirty: false)
            node.fill(from: memory)
            return node
        }
        var nodes = TreeNodes()
        let node = loaded([5, 6, 7])
        nodes.put(node, at: leaf(3))
        #expect(nodes.referenceAhead(2, ofLeaf: 3)?.slot == 7)
        #expect(nodes.referenceAhead(2, ofLeaf: 3)?.reference.pointee.slot == 7)
        #expect(nodes.referenceAhead(3, ofLeaf: 3) == nil)
        #expect(nodes.referenceAhead(0, ofLeaf: 4) == nil)
        node[1].slot = 9
        #expect(nodes.node(at: leaf(3))?.firstSlot == 0)
        #expect(nodes.referenceAhead(1, ofLeaf: 3) == nil)
        let others: [[UInt32]] = [[5, 7, 6], [0, 0, 0], [0, 1, 2], [.max, 0, 1]]
        for (index, slots) in others.enumerated() {
            nodes.put(loaded(slots), at: leaf(Int64(index)))
            #expect(nodes.referenceAhead(1, ofLeaf: Int64(index)) == nil, "\(slots)")
        }
    }

    @Test func `a node of many takes no page for itself that it does not fill`() {
        let page = max(4096, Int(getpagesize()))
        let full = page / Layout.referenceSize
        func mapped(capacity: Int, isOfMany: Bool = true) -> Int {
            TreeNode(count: 1, capacity: capacity, isDirty: false, isOfMany: isOfMany).mapped
        }
        #expect(mapped(capacity: full / 2) == 0)
        #expect(mapped(capacity: full) == page)
        #expect(mapped(capacity: full, isOfMany: false) == 0)
    }

    @Test func `every node of many is found while they grow in number`() {
        var nodes = TreeNodes()
        for index in 0..<Int64(2000) {
            let node = nodes.make(count: 1, capacity: 128, isDirty: false)
            #expect(node[0].isHole)
            node[0].slot = UInt32(index) + 1
            nodes.put(node, at: leaf(index))
            for earlier in stride(from: index, through: 0, by: -97) {
                #expect(nodes.node(at: leaf(earlier))?[0].slot == UInt32(earlier) + 1)
                #expect(nodes.reference(0, ofLeaf: earlier)?.slot == UInt32(earlier) + 1)
            }
        }
        #expect(nodes.count == 2000)
    }

    @Test func `what a node lost and takes in again is holes`() {
        var nodes = TreeNodes()
        let node = node([1, 2, 3])
        nodes.put(node, at: leaf(0))
        #expect(nodes.reference(3, ofLeaf: 0) == nil)
        node.resize(to: 1)
        node.resize(to: 128)
        #expect(node[0].slot == 1)
        #expect((1..<128).allSatisfy { node[$0].isHole })
        #expect(nodes.reference(2, ofLeaf: 0)?.isHole == true)
        node[127].slot = 9
        #expect(nodes.node(at: leaf(0))?[127].slot == 9)
        #expect(nodes.reference(127, ofLeaf: 0)?.slot == 9)
    }

    @Test func `a node above nodes is found by its place, and is none above chunks`() {
        var nodes = TreeNodes()
        nodes.put(node([4]), at: TreePlace(level: 2, index: 0))
        #expect(nodes.reference(0, ofLeaf: 0) == nil)
        #expect(nodes.node(at: TreePlace(level: 2, index: 0))?[0].slot == 4)
    }
}
