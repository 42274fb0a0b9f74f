/** What changed lately, in a workspace or in the whole instance, for those who may read its audit log. */
import type { AuditEntry } from 'governed-data-client/system'
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { formatTime, t } from '../../messages/messages.ts'
import page from '../page.module.css'
import { actionName, actorOf, changesQuery, nameIn } from './data.ts'
import { type Names, useNames } from './names.ts'

const SHOWN = 5

/** Without a workspace that of the instance. Says nothing where it cannot be read. */
export function Recent({ workspace }: { readonly workspace?: string }) {
  const { data: entries = [] } = useQuery(changesQuery(workspace, SHOWN))
  const names = useNames(workspace, entries)
  const texts = t.value.audit
  if (entries.length === 0) return null
  return (
    <section class={page.stack} aria-label={texts.recent}>
      <div class={page.head}>
        <h2>{texts.recent}</h2>
        <a class={page.quiet} href={workspace === undefined ? '/-/audit-log' : pathTo(workspace, 'audit-log')}>
          {texts.all}
        </a>
      </div>
      <ul class={`${page.panel} ${page.lines}`}>
        {entries.map((entry) => (
          <li key={entry.id}>
            <span>
              {actionName(entry)}
              <About entry={entry} names={names} />
            </span>
            <span class={page.quiet}>
              <bdi>{actorOf(entry)}</bdi> · <time dateTime={entry.time}>{formatTime(entry.time)}</time>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Which role, and whose. */
function About({ entry: { payload, targetId }, names }: { readonly entry: AuditEntry; readonly names: Names }) {
  const { roleName } = payload as { readonly roleName?: string }
  const about = [roleName, nameIn(payload) ?? names.get(targetId ?? '')].filter((one) => one !== undefined)
  if (about.length === 0) return null
  return (
    <span class={page.quiet}>
      {' '}
      <bdi>{about.join(' · ')}</bdi>
    </span>
  )
}
