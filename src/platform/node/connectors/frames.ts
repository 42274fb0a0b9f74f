/**
 * Extracts answers from the output of a connector's process: lines that begin with the token. Other output is the
 * connector's own and is dropped; too much of either ends the process.
 */
import { LONGEST_REPLY } from '../../connectors/reply.ts'

export type Frames = {
  /** Takes a chunk of stdout and reports the content of each answer in it. */
  receive(chunk: Buffer): void
}

export type FramesDeps = {
  readonly token: string
  readonly onAnswer: (content: string) => void
  /** Called once if a line, or the output between two answers, is longer than any valid answer. */
  readonly onFlood: () => void
}

export function createFrames(deps: FramesDeps): Frames {
  const { token, onAnswer, onFlood } = deps
  const prefix = Buffer.from(token)
  let parts: Buffer[] = []
  let size = 0
  let noise = 0

  return {
    receive(chunk) {
      let start = 0
      for (let end = chunk.indexOf(END, start); end !== -1; end = chunk.indexOf(END, start)) {
        take(parts.length === 0 ? chunk.subarray(start, end) : Buffer.concat([...parts, chunk.subarray(start, end)]))
        parts = []
        size = 0
        start = end + 1
      }
      if (start < chunk.length) {
        parts.push(chunk.subarray(start))
        size += chunk.length - start
      }
      if (size + noise > LONGEST_REPLY) onFlood()
    },
  }

  function take(line: Buffer): void {
    if (line.subarray(0, prefix.length).equals(prefix)) {
      noise = 0
      onAnswer(line.toString('utf8', prefix.length))
    } else {
      noise += line.length
    }
  }
}

const END = 0x0a
