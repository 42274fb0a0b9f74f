/**
 * Texts of documents, kept up to a size in all: the oldest goes first. Building one takes time and much more memory than the text, so
 * that of a workspace one is built at a time.
 */
import { pause } from '../../ports.ts'

export type KeptTexts = {
  /**
   * The text that is kept under the key, or what `build` brings. Whoever comes while another builds for the same workspace waits, and
   * finds what was kept meanwhile. What is no text, or too long, is not kept.
   */
  load<Built>(document: DocumentKey, build: () => Promise<Built>): Promise<Built | string>
}

export type DocumentKey = { readonly workspaceId: string; readonly key: string }

/** Of one text and of all, in characters. */
export const MAX_KEPT = 16 * 1024 * 1024

/** Milliseconds between two looks of whoever waits. */
const LOOK = 10
/** Milliseconds between two signs that whoever builds is still there: a Worker ends work whose client has gone. */
const SIGN = 200
/** Milliseconds without a sign after which another one builds. */
const LOST = 2_000

export function createKeptTexts(): KeptTexts {
  const kept = new Map<string, string>()
  /** By workspace; when its builder was last there. */
  const building = new Map<string, { seen: number }>()

  function keep(key: string, text: string): void {
    if (text.length > MAX_KEPT) return
    kept.set(key, text)
    let length = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length: freed }] of kept) {
      if (length <= MAX_KEPT) return
      kept.delete(oldest)
      length -= freed
    }
  }

  async function built<Built>({ workspaceId, key }: DocumentKey, build: () => Promise<Built>): Promise<Built> {
    const own = { seen: performance.now() }
    building.set(workspaceId, own)
    const timer = setInterval(() => {
      own.seen = performance.now()
    }, SIGN)
    try {
      const text = await build()
      if (typeof text === 'string') keep(key, text)
      return text
    } finally {
      clearInterval(timer)
      if (building.get(workspaceId) === own) building.delete(workspaceId)
    }
  }

  return {
    async load(document, build) {
      for (;;) {
        const known = kept.get(document.key)
        if (known !== undefined) return known
        const other = building.get(document.workspaceId)
        if (other === undefined || performance.now() - other.seen > LOST) return built(document, build)
        await pause(LOOK)
      }
    },
  }
}
