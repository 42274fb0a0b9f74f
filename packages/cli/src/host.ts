/** The process that a command runs in, as values: what `main.ts` takes of it. */
import type { Readable, Writable } from 'node:stream'

export type Host = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean }
  readonly stderr: Writable & { readonly isTTY?: boolean }
}
