/** The nodes of a directed graph from which a way leads back to them: those that share a strongly connected component (Tarjan). */
import type { Parts } from '../../parts.ts'

export function* onCircles(next: ReadonlyMap<string, readonly string[]>): Parts<ReadonlySet<string>> {
  const order = new Map<string, number>()
  /** The earliest node that each one reaches among those whose component is not known yet. */
  const lowest = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const circular = new Set<string>()

  const enter = (node: string) => {
    order.set(node, order.size)
    lowest.set(node, order.size - 1)
    open.push(node)
    isOpen.add(node)
    return { node, targets: (next.get(node) ?? []).values() }
  }
  const reach = (node: string, other: number) => lowest.set(node, Math.min(lowest.get(node) ?? other, other))
  const leave = (node: string) => {
    if (lowest.get(node) !== order.get(node)) return
    const component = open.splice(open.lastIndexOf(node))
    for (const member of component) isOpen.delete(member)
    const isLoop = next.get(node)?.includes(node) === true
    if (component.length > 1 || isLoop) for (const member of component) circular.add(member)
  }

  for (const start of next.keys()) {
    yield
    if (order.has(start)) continue
    // A way may be as long as the model is large: no recursion.
    const way = [enter(start)]
    for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
      const { value: target, done } = at.targets.next()
      if (done) {
        way.pop()
        leave(at.node)
        const from = way.at(-1)
        if (from !== undefined) reach(from.node, lowest.get(at.node) ?? 0)
      } else if (!order.has(target)) {
        way.push(enter(target))
      } else if (isOpen.has(target)) {
        reach(at.node, order.get(target) ?? 0)
      }
    }
  }
  return circular
}
