/** Texts of the ways in, in Arabic. */

import type { entry as en } from '../en/entry.ts'
import { pluralIn } from '../plural.ts'
import type { Translated } from '../translated.ts'

const plural = pluralIn('ar')

export const entry: Translated<typeof en> = {
  signIn: {
    title: 'تسجيل الدخول',
    email: 'البريد الإلكتروني',
    password: 'كلمة المرور',
    submit: 'تسجيل الدخول',
    wrong: 'البريد الإلكتروني أو كلمة المرور غير صحيحة.',
    forgot: 'هل نسيت كلمة المرور؟',
    otherWays: 'طرق أخرى لتسجيل الدخول',
    noOtherWays: 'لا توجد طرق أخرى لتسجيل الدخول هنا.',
    with: (provider) => `تسجيل الدخول عبر ${provider}`,
    invited: 'لديّ دعوة',
    providerFault: {
      access_denied: 'أُلغي تسجيل الدخول لدى المزوّد.',
      provider_unavailable: 'تعذّر الوصول إلى المزوّد. أعد المحاولة أو سجّل الدخول بكلمة المرور.',
      not_allowed: 'يعرفك المزوّد، لكن لا حساب لك هنا. اطلب دعوة من أحد المديرين.',
      sign_in_failed: 'أخفق تسجيل الدخول لدى المزوّد. أعد المحاولة.',
    },
    linkUsed:
      'لم يعد هذا الرابط صالحًا: يعمل مرة واحدة خلال عشر دقائق. أعد تشغيل الخدمة للحصول على رابط جديد، أو سجّل الدخول أدناه.',
    linkUnderWay: 'جارٍ تسجيل دخولك',
  },

  reset: {
    title: 'اختيار كلمة مرور جديدة',
    requestTitle: 'إعادة تعيين كلمة المرور',
    requestText: 'نرسل رمزًا إلى هذا العنوان إن كان له حساب يحقّ له الدخول.',
    requestSubmit: 'إرسال الرسالة',
    requested: 'إن كان لهذا العنوان حساب فالرسالة في طريقها. تبقى صالحة ساعة واحدة.',
    haveToken: 'لديّ رمز',
    token: 'الرمز من الرسالة',
    newPassword: 'كلمة المرور الجديدة',
    submit: 'تعيين كلمة المرور',
    done: 'تغيّرت كلمة المرور وانتهت الجلسات الأخرى كلها. سجّل الدخول بها الآن.',
    wrongToken: 'هذا الرمز غير صالح: خاطئ أو مستعمل أو أقدم من ساعة. اطلب رسالة جديدة.',
    back: 'العودة إلى تسجيل الدخول',
  },

  invitation: {
    title: 'قبول دعوة',
    text: 'كلمة المرور مطلوبة فقط إن لم يكن لعنوانك حساب بعد.',
    token: 'الرمز من الرسالة',
    fullName: 'الاسم الكامل',
    submit: 'قبول',
    wrongToken: 'هذا الرمز غير صالح: خاطئ أو مستعمل أو منتهٍ. اطلب رمزًا جديدًا ممّن دعاك.',
    done: (workspace) => `أنت الآن عضو في ${workspace}. سجّل الدخول لفتحها.`,
  },

  passwordRule: 'عشرة أحرف على الأقل.',

  setUp: {
    title: 'إعداد الخدمة',
    steps: ['المدير', 'مساحة العمل', 'البيانات'],
    step: (now, all) => `الخطوة ${now} من ${all}`,
    administrator: 'المدير الأول',
    administratorText: 'يحقّ لهذا الحساب كل شيء. يمكن دعوة آخرين لاحقًا.',
    setupToken: 'رمز الإعداد',
    setupTokenText: 'قيمة SERVICE_SETUP_TOKEN، وهي تثبت أنك تدير هذه الخدمة.',
    wrongToken: 'رمز الإعداد ناقص أو خاطئ.',
    taken: 'أعدّ شخص آخر هذه الخدمة في هذه الأثناء. سجّل الدخول بدلًا من ذلك.',
    create: 'إنشاء المدير',
    workspace: 'مساحة العمل الأولى',
    workspaceText: 'لمساحة العمل نموذج بيانات وأشخاص وصلاحيات خاصة بها.',
    workspaceName: 'الاسم',
    workspaceApiName: 'الاسم في العناوين',
    workspaceApiNameText: 'أحرف لاتينية صغيرة وأرقام وشرطات سفلية، تبدأ بحرف.',
    createWorkspace: 'إنشاء مساحة العمل',
    data: 'البيانات',
    sample: 'بيانات تجريبية',
    sampleText: 'مكتبة صغيرة من الكتب والمؤلفين والإعارات لتجربة كل شيء.',
    sampleUnderWay: 'جارٍ إنشاء المجموعات والصفوف',
    connect: 'ربط قاعدة بيانات',
    connectText: 'PostgreSQL أو MySQL أو MariaDB أو Neon أو PlanetScale. تبقى جداولك في مكانها.',
    empty: 'البدء من الصفر',
    emptyText: 'تُضاف المجموعات لاحقًا.',
    resume: 'متابعة الإعداد',
  },

  connect: {
    provider: 'المزوّد',
    connectionString: 'سلسلة الاتصال',
    connectionStringText: 'مثل postgres://user:password@host:5432/database. تُحفظ مشفّرة ولا تُعرض مرة أخرى.',
    name: 'اسم المصدر',
    nameText: 'أحرف لاتينية وأرقام وشرطات سفلية.',
    tables: 'الجداول المراد استيرادها',
    chosen: (chosen, all) => `اختير ${chosen} من ${all}. يمكن استيراد الباقي لاحقًا.`,
    findTable: 'ابحث عن جدول',
    all: 'اختيار الكل',
    none: 'إلغاء الاختيار',
    columns: (shown, count) =>
      plural(count, {
        one: 'عمود واحد',
        two: 'عمودان',
        few: `${shown} أعمدة`,
        many: `${shown} عمودًا`,
        other: `${shown} عمود`,
      }),
    noTables: 'قاعدة البيانات تستجيب، لكن لا جداول فيها يحق لهذا الحساب قراءتها.',
    connect: 'اتصال',
    connected: 'قاعدة البيانات تستجيب. اختر ما يُستورد؛ لا يتغير فيها شيء.',
    looking: 'جارٍ النظر فيما يوجد.',
    importing: (shown, count) =>
      plural(count, {
        one: 'جارٍ استيراد جدول واحد. قد يستغرق ذلك دقيقة.',
        two: 'جارٍ استيراد جدولين. قد يستغرق ذلك دقيقة.',
        few: `جارٍ استيراد ${shown} جداول. قد يستغرق ذلك دقيقة.`,
        other: `جارٍ استيراد ${shown} جدول. قد يستغرق ذلك دقيقة.`,
      }),
    progress: 'قيد التنفيذ',
    stop: 'إيقاف',
    attach: 'استيراد',
    back: 'رجوع',
  },
}
