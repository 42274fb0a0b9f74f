/** What a new item begins with where another screen knows it, and the way back to that screen; both stand in the address. */
import type { FieldModel } from '../grid/model.ts'
import type { Drafts } from './drafts.ts'

const GIVEN = 'given'
const LIST = 'list'

type Given = Readonly<Record<string, string>>

/** `list` is the query string of the collection's own screen. */
export function givenSearch(given: Given, list: string): string {
  return `?${new URLSearchParams({ [GIVEN]: JSON.stringify(given), ...(list !== '' && { [LIST]: list }) })}`
}

/** As it stands in the address; nothing where that cannot be read. */
export function givenIn(parameters: URLSearchParams): { readonly given: Given; readonly list: string } {
  const list = parameters.get(LIST) ?? ''
  return { given: objectIn(parameters.get(GIVEN)), list: list.startsWith('?') ? list : '' }
}

function objectIn(text: string | null): Given {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return Object.fromEntries(Object.entries(value ?? {}).map(([name, one]) => [name, String(one)]))
  } catch {
    return {}
  }
}

/** As if it had been typed, where it may be. */
export function givenDrafts(given: Given, fields: readonly FieldModel[]): Drafts {
  const known = new Set(fields.map(({ name }) => name))
  const entries = Object.entries(given).filter(([name]) => known.has(name))
  return Object.fromEntries(entries.map(([name, text]) => [name, { text, base: undefined }]))
}
