/**
 * Mails by HTTP: `POST` of `{from, to, subject, text}` as JSON, the form that several mail services take. A password in
 * the address without a user goes as a Bearer token, with one as Basic. Every 2xx answer means that it was accepted.
 */
import { Buffer } from 'node:buffer'
import type { Mailer } from '../ports.ts'
import type { MailAccount } from './mail-account.ts'

const PATIENCE = 20_000

export function openHttpMailer({ url, from }: MailAccount): Mailer {
  const { href, authorization } = endpointOf(url)

  return {
    async send({ to, subject, text }) {
      const response = await fetch(href, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(authorization && { Authorization: authorization }) },
        body: JSON.stringify({ from, to, subject, text }),
        // Another place is not to be shown the credentials.
        redirect: 'manual',
        signal: AbortSignal.timeout(PATIENCE),
      })
      await response.body?.cancel()
      // The answer's own words may repeat the mail, so they are not repeated here.
      if (!response.ok) throw new Error(`The mail endpoint answered ${response.status}`)
    },
  }
}

/** `fetch` refuses addresses that hold credentials. */
function endpointOf(url: URL): { readonly href: string; readonly authorization: string | undefined } {
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  if (password === '') return { href: bare.href, authorization: undefined }
  if (user === '') return { href: bare.href, authorization: `Bearer ${password}` }
  return { href: bare.href, authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}
