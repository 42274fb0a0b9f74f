/**
 * Caches callers by workspace and token, and their policies. Each policy is parsed once, however many credentials, roles and
 * accounts have it. Policies may be long, so the caches are bounded by the number of characters read.
 */
import type { PolicyContent } from '../../core/access/policy.ts'
import { parseJson } from '../../core/exact-json.ts'
import type { ReadPolicy } from '../../store/principal-state.ts'

/** A workspace, and the version of rights that was read. */
export type ReadOf = { readonly workspaceId: string; readonly version: number }

export type KnownCallers<Known> = {
  get(workspaceId: string, token: string): Known | undefined
  /** `weight` is the number of characters read, without policies. Ignores outdated versions. */
  set(of: ReadOf, token: string, known: Known, weight: number): void
  reader(of: ReadOf): ReadPolicy
  forget(workspaceId: string): void
}

/** Characters of all cached policies; as objects they take several times as many bytes. */
const MOST_POLICIES = 16 * 1024 ** 2
/** Characters of all callers of a workspace. */
const MOST_CALLERS = 8 * 1024 ** 2
/** Minimum weight of a caller. */
const LEAST = 1_024

type Kept<Value> = { readonly value: Value; readonly weight: number }

/** A two-generation cache: when `young` is full it becomes `old`, and entries not read since then are dropped. */
type Halves<Value> = {
  young: Map<string, Kept<Value>>
  old: Map<string, Kept<Value>>
  /** Weight of `young`, and of both; an entry in both counts twice. */
  weight: number
  both: number
}

type OfWorkspace<Known> = {
  version: number
  callers: Halves<Known>
  /** `old` may be of the previous version, since most policies stay the same. */
  readonly policies: Halves<PolicyContent>
}

export type KnownCallersDeps = { readonly mostPolicies?: number; readonly mostCallers?: number }

export function createKnownCallers<Known>(deps: KnownCallersDeps): KnownCallers<Known> {
  const { mostPolicies = MOST_POLICIES, mostCallers = MOST_CALLERS } = deps
  /** Least recently read first. */
  const workspaces = new Map<string, OfWorkspace<Known>>()
  /** Weight of the policies of all workspaces. */
  let held = 0

  function forget(workspaceId: string): void {
    held -= workspaces.get(workspaceId)?.policies.both ?? 0
    workspaces.delete(workspaceId)
  }

  function counted<Result>({ policies }: OfWorkspace<Known>, change: () => Result): Result {
    const before = policies.both
    const result = change()
    held += policies.both - before
    return result
  }

  /** Undefined for an outdated version. */
  function ofVersion({ workspaceId, version }: ReadOf): OfWorkspace<Known> | undefined {
    const kept = workspaces.get(workspaceId) ?? { version, callers: halves<Known>(), policies: halves<PolicyContent>() }
    workspaces.delete(workspaceId)
    workspaces.set(workspaceId, kept)
    if (kept.version < version) {
      kept.version = version
      kept.callers = halves()
      counted(kept, () => turn(kept.policies))
    }
    return kept.version === version ? kept : undefined
  }

  function readOnce({ policies }: OfWorkspace<Known>, text: string): PolicyContent {
    const found = find(policies, text, Number.POSITIVE_INFINITY)
    if (found !== undefined) return found
    const value = parseJson(text) as PolicyContent
    keep(policies, text, { value, weight: text.length }, Number.POSITIVE_INFINITY)
    return value
  }

  return {
    get(workspaceId, token) {
      const kept = workspaces.get(workspaceId)
      return kept && find(kept.callers, token, mostCallers / 2)
    },
    set(of, token, known, weight) {
      const kept = ofVersion(of)
      if (kept !== undefined) keep(kept.callers, token, { value: known, weight: weight + LEAST }, mostCallers / 2)
    },
    reader: (of) => (part) => {
      const kept = ofVersion(of)
      if (kept === undefined) return parseJson(part) as PolicyContent
      const content = counted(kept, () => readOnce(kept, copied(part)))
      for (const workspaceId of workspaces.keys()) {
        if (held <= mostPolicies) break
        forget(workspaceId)
      }
      return content
    },
    forget,
  }
}

function halves<Value>(): Halves<Value> {
  return { young: new Map(), old: new Map(), weight: 0, both: 0 }
}

function turn<Value>(kept: Halves<Value>): void {
  kept.old = kept.young
  kept.young = new Map()
  kept.both = kept.weight
  kept.weight = 0
}

function find<Value>(kept: Halves<Value>, key: string, half: number): Value | undefined {
  const found = kept.young.get(key)
  if (found !== undefined) return found.value
  const earlier = kept.old.get(key)
  if (earlier !== undefined) keep(kept, key, earlier, half)
  return earlier?.value
}

function keep<Value>(kept: Halves<Value>, key: string, entry: Kept<Value>, half: number): void {
  const added = entry.weight - (kept.young.get(key)?.weight ?? 0)
  kept.weight += added
  kept.both += added
  kept.young.set(key, entry)
  if (kept.weight > half) turn(kept)
}

/** Copies a substring, which would otherwise keep the whole string in memory. */
function copied(part: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(part))
}
