/** The license as home tells of it: to administrators its state and all warnings, to others only that it is locked. */
import { useState } from 'preact/hooks'
import { system } from '../data/client.ts'
import { checkSession, type Info, type License, type LicenseWarning, session } from '../data/session.ts'
import { explainFault } from '../messages/fault.ts'
import { formatDays, formatNumber, formatTime, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { showToast } from '../ui/toasts.tsx'
import styles from './page.module.css'

const DAY = 86_400_000

/** Sentences in the order of the service's own warnings. */
export function licenseWarnings({ license, now }: Info, isAdministrator: boolean): readonly string[] {
  if (license === undefined) return []
  if (!isAdministrator) return license.status === 'locked' ? [t.value.license.lockedForMembers] : []
  return (license.warnings ?? []).map((warning) => sentenceOf(warning, license, now))
}

/** In the reader's language; what the console does not know is said as the service says it. */
function sentenceOf(warning: LicenseWarning, license: License, now: string | undefined): string {
  const texts = t.value.license
  const { expiresAt, graceEndsAt, lastValidatedAt } = license
  const instant = now === undefined ? Date.now() : Date.parse(now)
  switch (warning.kind) {
    case 'locked':
      return graceEndsAt && Date.parse(graceEndsAt) > instant ? texts.withdrawn : texts.locked
    case 'grace':
      return texts.grace(graceEndsAt ? formatTime(graceEndsAt) : '')
    case 'expiry':
      return texts.expiry(expiresAt ? formatDays(Math.floor((Date.parse(expiresAt) - instant) / DAY)) : '')
    case 'unreachable':
      return texts.unreachable(lastValidatedAt ? formatTime(lastValidatedAt) : '')
    case 'refused':
      return texts.refused
    case 'usage':
      return usageSentence(warning)
    default:
      return warning.message
  }
}

function usageSentence({ message, entitlement = '', usage, limit, workspace }: LicenseWarning): string {
  const texts = t.value.license
  const what = texts.entitlements[entitlement]
  if (what === undefined) return message
  const isCounted = typeof usage === 'number' && typeof limit === 'number'
  const sentence = isCounted ? texts.above(what, formatNumber(usage), formatNumber(limit)) : texts.notAllowed(what)
  return workspace === undefined ? sentence : `${texts.within(workspace)} ${sentence}`
}

/** Whether the last answer was one; else a warning says what it was. */
function hasCounted(): boolean {
  const warnings = session.value.kind === 'signedIn' ? session.value.info.license?.warnings : undefined
  return warnings?.every(({ kind }) => kind !== 'unreachable' && kind !== 'refused') ?? true
}

type StateProps = {
  readonly license: License
  /** On home, which writes no dates: the first that a page writes costs a browser as much as all the rest. */
  readonly isShort?: boolean
}

/** Plan, state and end; one by key can be asked for now. */
export function LicenseState({ license, isShort = false }: StateProps) {
  const texts = t.value.license
  const [isBusy, setBusy] = useState(false)
  const { status, plan, source, expiresAt, lastValidatedAt } = license
  const refresh = async () => {
    setBusy(true)
    const answer = await system.refreshLicense()
    await checkSession()
    setBusy(false)
    if (!answer.ok) showToast(explainFault(answer.error), 'danger')
    else if (hasCounted()) showToast(texts.refreshed)
  }
  return (
    <section class={styles.stack} aria-label={texts.title}>
      <div class={styles.head}>
        <h2>{texts.title}</h2>
        {source === 'key' && (
          <Button isBusy={isBusy} onClick={() => void refresh()}>
            {texts.refresh}
          </Button>
        )}
      </div>
      <div class={styles.panel}>
        <p>
          <strong>{texts.statuses[status] ?? status}</strong> · <bdi>{texts.plan(plan ?? '')}</bdi> ·{' '}
          {isShort ? (
            <a href="/-/license">{texts.details}</a>
          ) : (
            (expiresAt && texts.until(formatTime(expiresAt))) || texts.withoutEnd
          )}
        </p>
        {lastValidatedAt && !isShort && <p class={styles.quiet}>{texts.validated(formatTime(lastValidatedAt))}</p>}
      </div>
    </section>
  )
}
