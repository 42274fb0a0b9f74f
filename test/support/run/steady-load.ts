/** Many requests by a few clients at once, kept with when they began and how they were answered. */
export type Answered = { readonly status: number; readonly body: unknown; readonly startedAt: number }

export type Load = { readonly answers: readonly Answered[]; readonly done: Promise<unknown> }

/** `ask` is called `count` times in all, by ten clients that each wait for their answer. */
export function startLoad(count: number, ask: () => Promise<Response>): Load {
  const answers: Answered[] = []
  let left = count
  const client = async () => {
    while (left > 0) {
      left -= 1
      const startedAt = performance.now()
      const response = await ask()
      answers.push({ status: response.status, body: await response.json(), startedAt })
    }
  }
  return { answers, done: Promise.all(Array.from({ length: CLIENTS }, client)) }
}

export const CLIENTS = 10
