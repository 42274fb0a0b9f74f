/** Requests that take long: how long they have taken so far, the way to end them, and what went wrong. */
import type { ServiceError } from 'governed-data-client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { formatSeconds } from '../../messages/messages.ts'
import page from '../page.module.css'

const LONG = 600_000

export function useAsking(workspace: string) {
  const [error, setError] = useState<ServiceError>()
  const ending = useRef<AbortController>(undefined)
  /** What it answers is undefined where it failed, which `onError` is told, or was ended. */
  const ask = async <T,>(
    path: string,
    body: object,
    query: object = {},
    onError: (failed: ServiceError) => void = setError,
  ): Promise<{ readonly data: T } | undefined> => {
    const end = new AbortController()
    ending.current = end
    const options = { body, query, timeout: LONG, signal: end.signal }
    const answer = await clientOf(workspace).$request<T>('POST', path, options)
    if (answer.ok) return answer
    if (!end.signal.aborted) onError(answer.error)
    return undefined
  }
  return { ask, error, setError, stop: () => ending.current?.abort() }
}

/** Not read aloud each second. */
export function Elapsed() {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const start = Date.now()
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - start) / 1_000)), 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <span class={page.quiet} role="timer">
      {formatSeconds(seconds)}
    </span>
  )
}
