/**
 * What was read of callers, by workspace and token. Policies may be long and each token has its own copy, so that what is kept is
 * bounded by its characters and not by its number.
 */

export type KnownPrincipals<Known> = {
  get(workspaceId: string, token: string): Known | undefined
  /** `weight` is how many characters it was read from. */
  set(workspaceId: string, token: string, known: Known, weight: number): void
  forget(workspaceId: string): void
}

/** Characters of everything that is kept; objects need some times as many bytes. */
const MAX_WEIGHT = 16 * 1024 ** 2
/** Of one without policies. */
const LEAST = 512

export type KnownPrincipalsDeps = { readonly maxWeight?: number }

/** What was not looked for while one half filled is dropped with the other. */
export function createKnownPrincipals<Known>(deps: KnownPrincipalsDeps): KnownPrincipals<Known> {
  const { maxWeight = MAX_WEIGHT } = deps
  type Entry = { readonly known: Known; readonly weight: number }
  const generation = () => new Map<string, Map<string, Entry>>()
  let [young, old] = [generation(), generation()]
  let held = 0

  function keep(workspaceId: string, token: string, entry: Entry): void {
    const ofWorkspace = young.get(workspaceId) ?? new Map<string, Entry>()
    young.set(workspaceId, ofWorkspace)
    held += entry.weight - (ofWorkspace.get(token)?.weight ?? 0)
    ofWorkspace.set(token, entry)
    if (held <= maxWeight / 2) return
    old = young
    young = generation()
    held = 0
  }

  return {
    get(workspaceId, token) {
      const found = young.get(workspaceId)?.get(token)
      if (found !== undefined) return found.known
      const earlier = old.get(workspaceId)?.get(token)
      if (earlier !== undefined) keep(workspaceId, token, earlier)
      return earlier?.known
    },
    set(workspaceId, token, known, weight) {
      keep(workspaceId, token, { known, weight: Math.max(weight, LEAST) })
    },
    forget(workspaceId) {
      for (const { weight } of young.get(workspaceId)?.values() ?? []) held -= weight
      young.delete(workspaceId)
      old.delete(workspaceId)
    },
  }
}
