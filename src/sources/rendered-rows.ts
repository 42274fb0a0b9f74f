/** Renders rows of connectors as the text of a list. */

import type { Selection } from '../core/plan/plan.ts'
import { projectRow, taggedTexts } from '../core/plan/project-row.ts'
import type { Row } from '../core/query/evaluate.ts'
import type { TagOf } from '../ports/ports.ts'

export type RenderRows = (selection: Selection, rows: readonly Row[]) => Promise<string>

export type RenderRowsDeps = { readonly tagOf: TagOf }

export function createRenderRows(deps: RenderRowsDeps): RenderRows {
  const { tagOf } = deps
  return async (selection, rows) => {
    const items: object[] = []
    for (const row of rows) {
      const tags = new Map<string, string>()
      for (const [name, text] of taggedTexts(selection, row)) tags.set(name, await tagOf(text))
      items.push(projectRow(selection, row, tags))
    }
    return JSON.stringify(items)
  }
}
