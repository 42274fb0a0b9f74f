/** The screens about accounts and the service, and who is shown them. Loaded after the page. */
import type { User } from '../data/session.ts'
import { help } from '../messages/help.ts'
import type { MenuItem } from '../ui/menu.tsx'
import { navigate } from './router.ts'

export type Place = Exclude<keyof typeof help.value.places, 'label'>

/** Whether only administrators of the service are shown it. */
export const isForAdministrators: Readonly<Record<Place, boolean>> = {
  account: false,
  'service-accounts': false,
  users: true,
  providers: true,
  license: true,
  settings: true,
  'audit-log': true,
}

export const places = Object.keys(isForAdministrators) as readonly Place[]

export const placesOf = ({ isAdministrator }: User) =>
  places.filter((place) => isAdministrator || !isForAdministrators[place])

/** One of what a place lists, such as `{ id }`. */
export const placePath = (place: Place, one: Readonly<Record<string, string>>) =>
  `/-/${place}?${new URLSearchParams(one)}`

/** For the menu of one's account, which has that one itself. */
export function menuOf(user: User): readonly MenuItem[] {
  return placesOf(user)
    .filter((place) => place !== 'account')
    .map((place) => ({
      kind: 'action',
      label: help.value.places[place],
      onSelect: () => navigate(`/-/${place}`),
    }))
}
