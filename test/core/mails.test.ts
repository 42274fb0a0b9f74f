/** Where mails lead to: pages of the operator's own by their templates, else those of the console. */
import { expect, it } from 'vitest'
import { invitationMail, resetMail } from '../../src/services/accounts/mails.ts'

const sent = { to: 'ada+1@example.com', token: 'T', base: 'https://data.example.com', page: undefined }
const invited = { workspace: 'shop', expiresAt: 0 }
const linksIn = ({ text }: { readonly text: string }) => text.match(/^https?:\S*#\S+$/gm)

it('lead to the console, whose page knows the invited address', () => {
  expect(linksIn(resetMail(sent))).toEqual(['https://data.example.com/-/reset#token=T'])
  expect(linksIn(invitationMail({ ...sent, ...invited }))).toEqual([
    'https://data.example.com/-/invitation#token=T&email=ada%2B1%40example.com',
  ])
})

it('lead to a page of the operator’s, also where the address of the service is not known', () => {
  const own = { ...sent, base: undefined, page: 'https://app.example.com/join#{token}' }

  expect(linksIn(resetMail(own))).toEqual(['https://app.example.com/join#T'])
  expect(linksIn(invitationMail({ ...own, ...invited }))).toEqual(['https://app.example.com/join#T'])
})
