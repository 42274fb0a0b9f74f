/** Texts of the license on the home screen: its state, and what administrators are warned of. */
export const license = {
  license: {
    title: 'License',
    statuses: {
      active: 'Active',
      grace: 'Expired, still working',
      locked: 'Locked',
    } as Readonly<Record<string, string>>,
    plan: (plan: string) => `Plan ${plan}`,
    until: (time: string) => `until ${time}`,
    withoutEnd: 'without an end',
    validated: (time: string) => `The licensing service answered last at ${time}.`,
    refresh: 'Ask the licensing service',
    refreshed: 'The licensing service has answered.',
    expiry: (when: string) => `The license expires ${when}. Renew it before; nothing changes until then.`,
    grace: (until: string) => `The license has expired. Everything works until ${until}; renew it before.`,
    locked: 'The license has expired: rows can be read and written again once it is renewed. Nothing is lost.',
    withdrawn:
      'The licensing service has withdrawn the license: rows can be read and written again once it counts again. Nothing is lost.',
    lockedForMembers: 'Rows cannot be read or written now. An administrator of the service has to renew its license.',
    unreachable: (since: string) =>
      `The licensing service has not answered since ${since}. Everything stays as it is; look at the network and at SERVICE_LICENSE__URL.`,
    refused: 'The licensing service gave an answer that does not count. Everything stays as it is; the log says why.',
    above: (what: string, usage: string, limit: string) =>
      `Above the license: ${usage} of ${limit} ${what}. All of it goes on working.`,
    notAllowed: (what: string) =>
      `Above the license: it has no ${what}, and there is some in use. All of it goes on working.`,
    within: (workspace: string) => `In ${workspace}:`,
    entitlements: {
      workspaces: 'workspaces',
      service_accounts: 'service accounts',
      sso_enabled: 'single sign-on',
      seats: 'seats',
      custom_roles: 'roles',
      custom_permission_rules_enabled: 'policies with conditions',
      custom_policies: 'policies',
    } as Readonly<Record<string, string>>,
  },
}
