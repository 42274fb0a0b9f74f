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
    details: 'Details',
    validated: (time: string) => `The licensing service answered last at ${time}.`,
    refresh: 'Check the license now',
    refreshed: 'The licensing service has answered.',
    expiry: (when: string) => `The license expires ${when}. Renew it before; nothing changes until then.`,
    grace: (until: string) => `The license has expired. Everything works until ${until}; renew it before.`,
    locked: 'The license has expired: rows can be neither read nor written until it is renewed. Nothing is lost.',
    withdrawn:
      'The licensing service has withdrawn the license: rows can be neither read nor written until it is valid again. Nothing is lost.',
    lockedForMembers: 'Rows cannot be read or written now. An administrator of the service has to renew its license.',
    unreachable: (since: string) =>
      `The licensing service has not answered since ${since}. Everything works as before; check the network and SERVICE_LICENSE__URL.`,
    refused:
      'The last answer of the licensing service was not a valid license. Everything works as before; the log of the service says why.',
    above: (what: string, usage: string, limit: string) =>
      `${usage} ${what} are in use, and the license allows ${limit}. All of them go on working.`,
    notAllowed: (what: string) => `The license does not include ${what}, which is in use. It goes on working.`,
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
