/** A screen about accounts or the service: its title, the way to the others, and a refusal where it is for administrators. */
import type { ComponentChildren } from 'preact'
import { CodeButton } from '../../app/code.tsx'
import { isForAdministrators, type Place, placesOf } from '../../app/places.ts'
import type { User } from '../../data/session.ts'
import { help } from '../../messages/help.ts'
import { t } from '../../messages/messages.ts'
import { Heading } from '../../ui/heading.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import type { CodeRequest } from '../code/request.ts'
import page from '../page.module.css'

type PlaceProps = { readonly at: Place; readonly user: User }

type SystemPageProps = PlaceProps & {
  readonly request?: CodeRequest
  readonly children: ComponentChildren
}

export function SystemPage({ at, user, request, children }: SystemPageProps) {
  const { places, about } = help.value
  const isShut = isForAdministrators[at] && !user.isAdministrator
  return (
    <div class={page.page}>
      <div class={page.head}>
        <Heading text={places[at]} />
        {request && !isShut && <CodeButton request={() => request} />}
      </div>
      <Places at={at} user={user} />
      {isShut ? (
        <Empty title={t.value.palette.administrators} />
      ) : (
        <>
          {at in about && <p class={page.quiet}>{about[at as keyof typeof about]}</p>}
          {children}
        </>
      )}
    </div>
  )
}

export function Places({ at, user }: PlaceProps) {
  const { places } = help.value
  return (
    <Tabs
      label={places.label}
      tabs={placesOf(user).map((place) => ({
        href: `/-/${place}`,
        title: places[place],
        isCurrent: place === at,
      }))}
    />
  )
}
