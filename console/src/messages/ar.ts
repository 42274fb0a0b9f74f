/** Arabic, from right to left. Names of either direction stand between U+2068 and U+2069, which keep them apart from the sentence. */
import { actions } from './ar/actions.ts'
import { data } from './ar/data.ts'
import { entry } from './ar/entry.ts'
import { files } from './ar/files.ts'
import { license } from './ar/license.ts'
import { many } from './ar/many.ts'
import { palette } from './ar/palette.ts'
import { review } from './ar/review.ts'
import type { Messages } from './en.ts'

export const ar: Messages = {
  product: 'خدمة البيانات',
  languageName: 'العربية',
  direction: 'rtl',

  ...entry,
  ...data,
  ...many,
  ...files,
  ...license,
  ...palette,
  ...review,

  common: {
    comma: '، ',
    cancel: 'إلغاء',
    close: 'إغلاق',
    continue: 'متابعة',
    later: 'لاحقًا',
    loading: 'جارٍ التحميل',
    noMatch: 'لا توجد نتائج',
    optional: 'اختياري',
    retry: 'إعادة المحاولة',
    showTyped: 'إظهار ما كُتب',
    skipToContent: 'الانتقال إلى المحتوى',
  },

  fault: {
    title: 'لم ينجح ذلك',
    network: 'تعذّر الوصول إلى الخدمة. لم يُفقد شيء في هذه الصفحة؛ تحقّق من الاتصال ثم أعد المحاولة.',
    timeout: 'استغرقت الخدمة وقتًا طويلًا. لم يُفقد شيء في هذه الصفحة؛ أعد المحاولة.',
    unsent: 'تُركت الصفحة قبل حفظ هذا. حاول مرة أخرى، أو تخلَّ عنه.',
    unauthenticated: 'لم تعد مسجّل الدخول.',
    forbidden: 'غير مسموح لك بهذا. يمكن لمدير مساحة العمل تغيير ذلك.',
    notFound: 'هذا غير موجود، أو لا يحقّ لك رؤيته.',
    conflict: 'تغيّر شيء آخر في هذه الأثناء:',
    invalid: 'لم تقبل الخدمة هذا:',
    throttled: (seconds) => `محاولات كثيرة جدًا. أعد المحاولة بعد ${seconds}.`,
    throttledSoon: 'محاولات كثيرة جدًا. انتظر دقيقة ثم أعد المحاولة.',
    limit: 'لا تسمح الرخصة بهذا:',
    unavailable: 'الخدمة غير جاهزة. أعد المحاولة بعد دقيقة.',
    failed: 'أخفقت الخدمة. أعد المحاولة؛ وإن استمر ذلك فأعطِ هذا الرقم لمن يدير الخدمة:',
    broken: 'أخفقت هذه الشاشة. إعادة التحميل تكفي غالبًا؛ ما هو محفوظ لا يتأثر.',
    offline: 'لا يوجد اتصال. تُفتح هذه الشاشة من نفسها حالما يعود.',
    reload: 'إعادة التحميل',
  },

  session: {
    lostTitle: 'انتهت جلستك',
    lostText: 'سجّل الدخول من جديد للمتابعة. ما كتبته لا يزال هنا.',
    otherUser: 'سجّل شخص آخر الدخول. يُعاد تحميل الصفحة.',
    signOut: 'تسجيل الخروج',
    signedInAs: 'مسجّل الدخول باسم',
  },

  home: {
    title: 'مساحات العمل',
    none: 'لا توجد مساحة عمل بعد',
    noneText: 'لست عضوًا في أي مساحة عمل. اطلب دعوة من أحد المديرين.',
    noneTextAdministrator: 'أنشئ الأولى لتبدأ.',
    find: 'ابحث عن مساحة عمل',
    noneFound: 'لا توجد مساحة عمل بهذا الاسم.',
    create: 'مساحة عمل جديدة',
    open: 'فتح',
    warnings: 'تحذيرات',
    drift: 'تغيّرت قواعد بيانات خارج الخدمة. راجع التغييرات في',
  },

  workspace: {
    collections: 'المجموعات',
    filter: 'ابحث عن مجموعة',
    none: 'لا توجد مجموعات بعد',
    addData: 'إضافة بيانات',
    noneText: 'اربط قاعدة بيانات أو أضف بيانات تجريبية لترى الصفوف هنا.',
    notFound: 'لا توجد مساحة العمل هذه، أو لست عضوًا فيها.',
    choose: 'اختر مجموعة لترى صفوفها.',
  },

  audit: {
    members: { expiresAt: 'تنتهي الصلاحية', name: 'الاسم', email: 'البريد الإلكتروني' },
    title: 'سجل التدقيق',
    titleOfInstance: 'سجل تدقيق الخدمة',
    none: 'لا شيء مسجّل يوافق المرشّح',
    time: 'الوقت',
    action: 'الفعل',
    anyAction: 'أي فعل',
    actions,
    actor: 'الفاعل',
    actors: { anonymous: 'بلا تسجيل دخول', system: 'الخدمة', invitation: 'بدعوة' },
    target: 'عن',
    targets: {
      workspace: 'مساحة العمل',
      user: 'الشخص',
      serviceAccount: 'حساب الخدمة',
      apiKey: 'مفتاح API',
      role: 'الدور',
      policy: 'السياسة',
      accessTest: 'اختبار الوصول',
      invitation: 'الدعوة',
      source: 'مصدر البيانات',
      secret: 'السر',
      provider: 'مزوّد تسجيل الدخول',
      session: 'الجلسة',
      file: 'الملف',
      conversation: 'المحادثة',
    },
    changes: 'التفاصيل',
    show: 'عرض',
    showOf: (action) => `عرض تفاصيل ${action}`,
    failed: 'فشل',
    from: 'من',
    to: 'حتى',
    older: 'الأقدم',
    recent: 'آخر التغييرات',
    all: 'إلى سجل التدقيق',
  },

  shell: {
    access: 'الصلاحيات',
    yourAccount: 'حسابك',
    model: 'نموذج البيانات',
    sources: 'مصادر البيانات',
    menu: 'القائمة',
    account: 'الحساب',
    appearance: 'المظهر',
    schemes: { system: 'مثل النظام', light: 'فاتح', dark: 'داكن' },
    language: 'اللغة',
    navigation: 'التنقل',
    assistant: 'المساعد',
    search: 'بحث',
    notFound: 'لا توجد صفحة كهذه',
    notFoundText: 'العنوان خاطئ، أو زال ما كان هنا.',
    home: 'إلى مساحات العمل',
    toWorkspace: (workspace: string) => `إلى ${workspace}`,
    dismiss: 'إخفاء',
    notifications: 'الإشعارات',
  },

  gallery: {
    title: 'المكوّنات',
    text: 'كل ما تتكوّن منه الشاشات، بحالاته.',
  },
}
