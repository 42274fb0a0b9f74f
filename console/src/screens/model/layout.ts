/** Where collections and relations stand in the diagram: in columns, each behind what it refers to. */
import type { Model } from './records.ts'

export type Box = {
  readonly id: string
  readonly name: string
  readonly about: number
  readonly x: number
  readonly y: number
}
export type Line = { readonly from: string; readonly to: string; readonly name: string; readonly path: string }
export type Layout = {
  readonly boxes: readonly Box[]
  readonly lines: readonly Line[]
  readonly width: number
  readonly height: number
}

export const WIDTH = 176
export const HEIGHT = 48
const GAP_X = 96
const GAP_Y = 24
const MARGIN = 24
/** So many stand below each other before another column begins. */
const TALL = 12

type Edge = { readonly from: string; readonly to: string; readonly name: string }

/** Of those that have a key to another: what refers, what it refers to. */
export function edgesOf({ collections }: Model): readonly Edge[] {
  return collections
    .filter(({ isSystem }) => !isSystem)
    .flatMap(({ id, relations }) =>
      relations.flatMap(({ actions, to, apiName }) => (actions === undefined ? [] : [{ from: id, to, name: apiName }])),
    )
}

export function layoutOf(model: Model, most: number): Layout {
  const shown = model.collections.filter(({ isSystem }) => !isSystem).slice(0, most)
  const ids = new Set(shown.map(({ id }) => id))
  const edges = edgesOf(model).filter(({ from, to }) => ids.has(from) && ids.has(to))
  const depths = depthsOf([...ids], edges)
  const columns = columnsOf(shown, depths, edges)
  const boxes = columns.flatMap((column, across) =>
    column.map(({ id, apiName, fields }, down) => ({
      id,
      name: apiName,
      about: fields.length,
      x: MARGIN + across * (WIDTH + GAP_X),
      y: MARGIN + down * (HEIGHT + GAP_Y),
    })),
  )
  const places = new Map(boxes.map((box) => [box.id, box]))
  const lines = edges.flatMap((edge) => {
    const [from, to] = [places.get(edge.from), places.get(edge.to)]
    return from && to ? [{ ...edge, path: pathBetween(from, to) }] : []
  })
  const tallest = Math.max(0, ...columns.map((column) => column.length))
  return {
    boxes,
    lines,
    width: 2 * MARGIN + columns.length * (WIDTH + GAP_X) - GAP_X / 2,
    height: 2 * MARGIN + tallest * (HEIGHT + GAP_Y) - GAP_Y,
  }
}

/** One more than the deepest that it refers to; a circle ends where it began. */
function depthsOf(ids: readonly string[], edges: readonly Edge[]): ReadonlyMap<string, number> {
  const targets = Map.groupBy(edges, ({ from }) => from)
  const depths = new Map<string, number>()
  const open = new Set<string>()
  for (const start of ids) {
    // Without recursion: a chain of collections may be longer than the stack.
    const stack = [start]
    while (stack.length > 0) {
      const id = stack.at(-1) ?? ''
      const next = (targets.get(id) ?? []).map(({ to }) => to).filter((to) => to !== id)
      const unknown = open.has(id) ? [] : next.filter((to) => !depths.has(to) && !open.has(to))
      open.add(id)
      if (unknown.length > 0) {
        stack.push(...unknown)
        continue
      }
      stack.pop()
      depths.set(id, Math.max(0, ...next.map((to) => (depths.get(to) ?? -1) + 1)))
      open.delete(id)
    }
  }
  return depths
}

type Shown = Model['collections'][number]

/** Within a column those stand near each other that refer to neighbours. */
function columnsOf(
  shown: readonly Shown[],
  depths: ReadonlyMap<string, number>,
  edges: readonly Edge[],
): readonly (readonly Shown[])[] {
  const rows = new Map<string, number>()
  const targets = Map.groupBy(edges, ({ from }) => from)
  const byDepth = [...Map.groupBy(shown, ({ id }) => depths.get(id) ?? 0)].sort(([one], [other]) => one - other)
  return byDepth.flatMap(([, column]) => {
    const middle = ({ id }: Shown) => {
      const places = (targets.get(id) ?? []).map(({ to }) => rows.get(to) ?? 0)
      return places.length === 0 ? Number.MAX_SAFE_INTEGER : places.reduce((sum, one) => sum + one, 0) / places.length
    }
    const ordered = column.toSorted(
      (one, other) => middle(one) - middle(other) || (one.apiName < other.apiName ? -1 : 1),
    )
    ordered.forEach(({ id }, at) => {
      rows.set(id, at % TALL)
    })
    return Array.from({ length: Math.ceil(ordered.length / TALL) }, (_, at) =>
      ordered.slice(at * TALL, (at + 1) * TALL),
    )
  })
}

/** From the left side of what refers to the right side of what it refers to; around the outside within a column. */
function pathBetween(from: Box, to: Box): string {
  const [y1, y2] = [from.y + HEIGHT / 2, to.y + HEIGHT / 2]
  if (from.x > to.x) {
    const [x1, x2] = [from.x, to.x + WIDTH]
    const middle = (x1 + x2) / 2
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
  }
  const x1 = from.x + WIDTH
  const x2 = from.x === to.x ? to.x + WIDTH : to.x
  const out = x1 + GAP_X / 3
  const end = from === to ? y2 + HEIGHT / 4 : y2
  return `M${x1} ${from === to ? y1 - HEIGHT / 4 : y1}C${out} ${y1 - (from === to ? HEIGHT / 2 : 0)} ${x2 + (from.x === to.x ? GAP_X / 3 : -GAP_X / 3)} ${end + (from === to ? HEIGHT / 4 : 0)} ${x2} ${end}`
}
