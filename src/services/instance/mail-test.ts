/** Sends a test mail to an administrator of the instance (docs/contract.md#system). */
import type { Config } from '../../config.ts'
import { ServiceError } from '../../core/error.ts'
import type { Ports } from '../../ports/ports.ts'
import { loadPassword } from '../../store/passwords.ts'
import { type Caller, requireAdministrator, requirePerson } from '../caller/caller.ts'
import type { Throttle } from '../caller/throttle.ts'

export type MailTest = {
  /**
   * Resolves when a mail to the caller's own address was accepted for delivery. Throws 403 unless the caller is a person who
   * administers the instance, 409 without SERVICE_MAIL__URL, 429 after ten mails to an address in an hour, and 503 if the mail
   * is refused; the log has the reason.
   */
  send(caller: Caller): Promise<void>
}

export type MailTestDeps = {
  readonly ports: Pick<Ports, 'database' | 'mailer'>
  readonly config: Config
  readonly throttle: Pick<Throttle, 'requireMail'>
}

export function createMailTest(deps: MailTestDeps): MailTest {
  const { ports, config, throttle } = deps

  return {
    async send(caller) {
      requireAdministrator(caller)
      const account = await loadPassword(ports.database, requirePerson(caller))
      if (config.SERVICE_MAIL__URL === undefined) throw new ServiceError('conflict', 'SERVICE_MAIL__URL is not set')
      const to = account?.email
      if (to == null) throw new ServiceError('conflict', 'The account has no e-mail address')
      await throttle.requireMail(to)
      try {
        await ports.mailer.send({
          to,
          subject: 'Mail works',
          text: 'This mail was asked for at the service to test it.',
        })
      } catch (cause) {
        throw new ServiceError('unavailable', 'The mail was not accepted for delivery', { cause })
      }
    },
  }
}
