/**
 * Sends mail by HTTP: `POST` with JSON `{from, to, subject, text}`, a form that several mail services accept. A
 * password in the URL is sent as a Bearer token, or with a user as Basic. Every 2xx status means accepted.
 */
import { Buffer } from 'node:buffer'
import type { Mailer } from '../ports/accounts.ts'
import { type Fetch, limitedFetch } from './fetch.ts'
import type { MailAccount } from './mail-account.ts'

const TIME_LIMIT = 20_000

export type HttpMailerOptions = MailAccount & {
  /** The platform's `fetch` where absent. */
  readonly wayOut?: Fetch | undefined
}

export function openHttpMailer({ url, from, wayOut }: HttpMailerOptions): Mailer {
  const { href, authorization } = endpointOf(url)

  return {
    async send({ to, subject, text }) {
      const headers = { 'Content-Type': 'application/json', ...(authorization && { Authorization: authorization }) }
      const request = { method: 'POST', headers, body: JSON.stringify({ from, to, subject, text }) }
      const response = await limitedFetch(href, request, { timeLimit: TIME_LIMIT, wayOut })
      await response.body?.cancel()
      // The response body may quote the mail, so it is not included.
      if (!response.ok) throw new Error(`The mail endpoint answered ${response.status}`)
    },
  }
}

/** `fetch` refuses URLs with credentials. */
function endpointOf(url: URL): { readonly href: string; readonly authorization: string | undefined } {
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  if (password === '') return { href: bare.href, authorization: undefined }
  if (user === '') return { href: bare.href, authorization: `Bearer ${password}` }
  return { href: bare.href, authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}
