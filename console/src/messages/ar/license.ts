/** License texts in Arabic. */

import type { license as english } from '../en/license.ts'
import type { Translated } from '../translated.ts'

export const license: Translated<typeof english> = {
  license: {
    title: 'الرخصة',
    statuses: { active: 'سارية', grace: 'منتهية وما زالت تعمل', locked: 'مقفلة' },
    plan: (plan) => `الخطة ${plan}`,
    until: (time) => `حتى ${time}`,
    withoutEnd: 'بلا نهاية',
    details: 'التفاصيل',
    validated: (time) => `آخر استجابة من خدمة الترخيص: ${time}.`,
    refresh: 'اسأل خدمة الترخيص',
    refreshed: 'استجابت خدمة الترخيص.',
    expiry: (when) => `تنتهي الرخصة ${when}. جدّدها قبل ذلك؛ لا يتغيّر شيء حتى حينه.`,
    grace: (until) => `انتهت الرخصة. يعمل كل شيء حتى ${until}؛ جدّدها قبل ذلك.`,
    locked: 'انتهت الرخصة: لا يمكن قراءة الصفوف ولا كتابتها حتى تُجدَّد. لم يضع شيء.',
    withdrawn: 'سحبت خدمة الترخيص الرخصة: لا يمكن قراءة الصفوف ولا كتابتها حتى تسري من جديد. لم يضع شيء.',
    lockedForMembers: 'لا يمكن قراءة الصفوف أو كتابتها الآن. على مدير الخدمة تجديد رخصتها.',
    unreachable: (since) =>
      `لم تستجب خدمة الترخيص منذ ${since}. يعمل كل شيء كما كان؛ تحقّق من الشبكة ومن SERVICE_LICENSE__URL.`,
    refused: 'لم يكن آخر جواب من خدمة الترخيص رخصة صالحة. يعمل كل شيء كما كان؛ والسبب في سجل الخدمة.',
    above: (what, usage, limit) => `ما تسمح به الرخصة من ${what}: ${limit}، والموجود: ${usage}.`,
    notAllowed: (what) => `لا تسمح الرخصة بما يلي وهو مستخدم: ${what}.`,
    within: (workspace) => `في ${workspace}:`,
    entitlements: {
      workspaces: 'مساحات العمل',
      service_accounts: 'حسابات الخدمة',
      sso_enabled: 'الدخول الموحّد',
      seats: 'المقاعد',
      custom_roles: 'الأدوار',
      custom_permission_rules_enabled: 'السياسات ذات الشروط',
      custom_policies: 'السياسات',
    },
  },
}
