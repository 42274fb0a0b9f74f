/**
 * Opens the mailer of SERVICE_MAIL__URL (decision 017): `smtp:` and `smtps:` where the platform supports them, http and
 * https addresses post JSON, `log:` prints the mail. Unset, mails are not sent and a warning is observed.
 */
import type { Mailer } from '../ports/accounts.ts'
import type { Observe } from '../ports/observe.ts'
import type { Fetch } from './fetch.ts'
import { openHttpMailer } from './http-mailer.ts'
import type { MailAccount } from './mail-account.ts'
export type MailSettings = {
  readonly SERVICE_MAIL__URL: string | undefined
  readonly SERVICE_MAIL__FROM: string | undefined
  readonly SERVICE_BASE_URL: string | undefined
}

export type MailerDeps = {
  readonly settings: MailSettings
  readonly observe: Observe
  /** Undefined on platforms without SMTP. */
  readonly openSmtp: ((account: MailAccount) => Mailer) | undefined
  /** The platform's `fetch` where absent. */
  readonly wayOut?: Fetch
}

/** Throws an Error that tells the operator what to change. */
export function openMailer(deps: MailerDeps): Mailer {
  const { settings, observe, openSmtp, wayOut } = deps
  if (settings.SERVICE_MAIL__URL === undefined) return silentMailer(observe)
  const url = new URL(settings.SERVICE_MAIL__URL)
  if (url.protocol === 'log:') return { send: async (mail) => observe({ kind: 'mail', mail }) }
  const account = { url, from: settings.SERVICE_MAIL__FROM ?? defaultSender(settings.SERVICE_BASE_URL) }
  if (url.protocol === 'http:' || url.protocol === 'https:')
    return namingVariable(openHttpMailer({ ...account, wayOut }))
  if (openSmtp === undefined) throw new Error('SERVICE_MAIL__URL must be an https address on Workers')
  return namingVariable(openSmtp(account))
}

/** Adds the variable's name to errors, so that operators know where to look. */
function namingVariable(mailer: Mailer): Mailer {
  return {
    async send(mail) {
      try {
        await mailer.send(mail)
      } catch (cause) {
        throw new Error('SERVICE_MAIL__URL: a mail could not be sent', { cause })
      }
    },
  }
}

/** The warning contains nothing of the mail, which may hold a token. */
function silentMailer(observe: Observe): Mailer {
  return {
    send: async () => observe({ kind: 'warning', message: 'A mail was not sent: SERVICE_MAIL__URL is not set' }),
  }
}

function defaultSender(baseUrl: string | undefined): string {
  return `no-reply@${baseUrl === undefined ? 'localhost' : new URL(baseUrl).hostname}`
}
