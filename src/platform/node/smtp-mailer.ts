/**
 * Sends mail by SMTP, `smtp://user:password@host:587` or `smtps://…:465`. Encrypted if the server supports it; a
 * password is never sent in clear text to another machine.
 */
import type { Transporter } from 'nodemailer'
import { isLoopback } from '../../core/loopback.ts'
import type { Mailer } from '../../ports/accounts.ts'
import type { MailAccount } from '../mail-account.ts'

const TIMEOUT = 20_000

export function openSmtpMailer({ url, from }: MailAccount): Mailer {
  let transport: Transporter | undefined

  return {
    async send({ to, subject, text }) {
      const { createTransport } = await import('nodemailer')
      transport ??= createTransport(optionsOf(url))
      // As an object, the address is never split into several.
      await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
    },
  }
}

function optionsOf(url: URL) {
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const isSecure = url.protocol === 'smtps:'
  const isLocal = isLoopback(url.hostname)
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isSecure ? 465 : 587),
    secure: isSecure,
    requireTLS: !isSecure && user !== '' && !isLocal,
    ...(user !== '' && { auth: { user, pass } }),
    // Loopback connections have no valid certificate and cannot be intercepted.
    ...(isLocal && { tls: { rejectUnauthorized: false } }),
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}
