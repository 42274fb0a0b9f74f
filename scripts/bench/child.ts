/** Child processes for servers and load, so that they do not compete for one thread: request and response by IPC. */
import { fork } from 'node:child_process'
import { once } from 'node:events'

export type Child = {
  ask<Answer>(question: object): Promise<Answer>
  close(): Promise<void>
}

type Reply = { readonly answer: unknown } | { readonly fault: string }

/** `file` is a module of this folder, or an absolute path, that calls `answerParent`. Its stdout is discarded. */
export function startChild(file: string, env: NodeJS.ProcessEnv = {}, flags: readonly string[] = []): Child {
  const child = fork(new URL(file, import.meta.url).pathname, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
    execArgv: [...flags],
  })
  const exited = once(child, 'exit')
  const gone = exited.then(() => {
    throw new Error(`${file} ended early`)
  })
  gone.catch(() => {})

  return {
    async ask<Answer>(question: object) {
      const reply = once(child, 'message')
      child.send(question)
      const [message] = (await Promise.race([reply, gone])) as [Reply]
      if ('fault' in message) throw new Error(`${file}: ${message.fault}`)
      // Both sides are files of this folder; each kind of question has one type of answer.
      return message.answer as Answer
    },
    async close() {
      const force = setTimeout(() => child.kill('SIGKILL'), 3_000)
      if (child.connected) child.disconnect()
      await exited
      clearTimeout(force)
    },
  }
}

/** The child's side. The child exits with its parent, however the parent ends. */
export function answerParent(answer: (question: never) => Promise<unknown>): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', (question) => {
    answer(question as never).then(
      (value) => process.send?.({ answer: value ?? null } satisfies Reply),
      (error: unknown) => process.send?.({ fault: error instanceof Error ? error.message : String(error) }),
    )
  })
}
