/** Addresses and the screens behind them, by the browser's history. */
import { computed, signal } from '@preact/signals'

export type Route =
  | { readonly kind: 'home' }
  | { readonly kind: 'workspace'; readonly workspace: string }
  | { readonly kind: 'collection'; readonly workspace: string; readonly collection: string }
  /** `key` has a text for each of its fields. */
  | { readonly kind: 'item'; readonly workspace: string; readonly collection: string; readonly key: readonly string[] }
  | { readonly kind: 'new'; readonly workspace: string; readonly collection: string }
  | { readonly kind: 'audit'; readonly workspace: string }
  /** `part` is a list or question of who may do what; `id` one of the list. */
  | { readonly kind: 'access'; readonly workspace: string; readonly part: string; readonly id?: string | undefined }
  /** `part` is a list, `new`, or the id of a source. */
  | { readonly kind: 'sources'; readonly workspace: string; readonly part: string }
  /** `name` is a collection, or `-` for what is of all of them; `part` what of it is shown. */
  | {
      readonly kind: 'model'
      readonly workspace: string
      readonly name: string | undefined
      readonly part: string | undefined
    }
  /** A screen of the console itself, such as `/-/reset`; names of workspaces have no dash. */
  | { readonly kind: 'own'; readonly name: string }
  | { readonly kind: 'missing'; readonly workspace: string }
  | { readonly kind: 'unknown' }

const at = signal(new URL(location.href))

/** Path, parameters and fragment of the address. */
export const address = computed(() => at.value)

export const route = computed(() => routeOf(at.value.pathname))

let left: URL | undefined

/** The address within a workspace that was shown last, for screens that belong to none. */
export const lastInWorkspace = (): URL | undefined => left

export function routeOf(path: string): Route {
  const parts = path.split('/').slice(1).map(decoded)
  if (parts.includes(undefined)) return { kind: 'unknown' }
  const [first = '', second, third, ...keys] = parts as string[]
  if (first === '') return { kind: 'home' }
  if (first === '-') return second === undefined ? { kind: 'unknown' } : { kind: 'own', name: second }
  if (second === undefined || second === '') return { kind: 'workspace', workspace: first }
  if (second === 'audit-log' && third === undefined) return { kind: 'audit', workspace: first }
  if (second === 'access' && keys.length < 2) {
    return { kind: 'access', workspace: first, part: third ?? 'people', id: keys[0] }
  }
  if (second === 'sources' && keys.length === 0) return { kind: 'sources', workspace: first, part: third ?? 'list' }
  if (second === 'model' && keys.length < 2) return { kind: 'model', workspace: first, name: third, part: keys[0] }
  if (third === undefined) return { kind: 'missing', workspace: first }
  const place = { workspace: first, collection: third }
  if (second === 'new' && keys.length === 0) return { kind: 'new', ...place }
  if (second !== 'items') return { kind: 'missing', workspace: first }
  return keys.length === 0 ? { kind: 'collection', ...place } : { kind: 'item', ...place, key: keys.map(unquoted) }
}

/** The address of a screen; parts are encoded. */
export function pathTo(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`
}

/** The address of an item. Texts that would not arrive as they are stand in quotes, as in the API. */
export function itemPath(workspace: string, collection: string, key: readonly unknown[]): string {
  return pathTo(workspace, 'items', collection, ...quotedParts(key))
}

export function quotedParts(key: readonly unknown[]): readonly string[] {
  return key.map(String).map((text) => (/^("|\.{0,2}$)/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
}

function unquoted(part: string): string {
  return part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part
}

/** By address, where somebody went from it last. */
const ways = new Map<string, string>()
let way: string | undefined

/** Where somebody had gone who came back to this address by the history; undefined where they came otherwise. */
export const returnedFrom = (): string | undefined => way

/** Goes to an address of the console. `replace` leaves no entry in the history. */
export function navigate(path: string, how: 'push' | 'replace' = 'push'): void {
  if ('workspace' in route.value) left = at.value
  const target = new URL(path, location.href)
  way = undefined
  if (how === 'push') ways.set(at.value.href, target.pathname + target.search)
  if (how === 'replace') history.replaceState(null, '', target)
  else if (target.href !== location.href) history.pushState(null, '', target)
  at.value = target
}

/** Links within the console do not load the page again. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    way = ways.get(location.href)
    at.value = new URL(location.href)
  })
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = (event.target as Element).closest('a')
    if (link === null || link.target !== '' || link.hasAttribute('download') || !isOurs(link)) return
    event.preventDefault()
    navigate(link.href)
  })
}

function isOurs(link: HTMLAnchorElement): boolean {
  return link.origin === location.origin && !link.pathname.startsWith('/api/')
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
