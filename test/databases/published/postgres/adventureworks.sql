-- AdventureWorks, a maker of bicycles, a schema for each of its departments. Origin:
-- https://github.com/lorint/AdventureWorks-for-Postgres, MIT licence; a part of its 68 tables, written down from memory,
-- without its data.

CREATE DOMAIN "OrderNumber" varchar(25) NULL;
CREATE DOMAIN "AccountNumber" varchar(15) NULL;
CREATE DOMAIN "Flag" boolean NOT NULL;
CREATE DOMAIN "NameStyle" boolean NOT NULL;
CREATE DOMAIN "Name" varchar(50) NULL;
CREATE DOMAIN "Phone" varchar(25) NULL;

CREATE SCHEMA Person
  CREATE TABLE BusinessEntity(
    BusinessEntityID SERIAL,
    rowguid uuid NOT NULL CONSTRAINT "DF_BusinessEntity_rowguid" DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL CONSTRAINT "DF_BusinessEntity_ModifiedDate" DEFAULT (NOW())
  )
  CREATE TABLE Person(
    BusinessEntityID INT NOT NULL,
    PersonType char(2) NOT NULL,
    NameStyle "NameStyle" NOT NULL CONSTRAINT "DF_Person_NameStyle" DEFAULT (false),
    Title varchar(8) NULL,
    FirstName "Name" NOT NULL,
    MiddleName "Name" NULL,
    LastName "Name" NOT NULL,
    Suffix varchar(10) NULL,
    EmailPromotion INT NOT NULL CONSTRAINT "DF_Person_EmailPromotion" DEFAULT (0),
    AdditionalContactInfo XML NULL,
    Demographics XML NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_Person_EmailPromotion" CHECK (EmailPromotion BETWEEN 0 AND 2),
    CONSTRAINT "CK_Person_PersonType" CHECK (PersonType IS NULL OR UPPER(PersonType) IN ('SC', 'VC', 'IN', 'EM', 'SP', 'GC'))
  )
  CREATE TABLE StateProvince(
    StateProvinceID SERIAL,
    StateProvinceCode char(3) NOT NULL,
    CountryRegionCode varchar(3) NOT NULL,
    IsOnlyStateProvinceFlag "Flag" NOT NULL DEFAULT (true),
    Name "Name" NOT NULL,
    TerritoryID INT NOT NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE Address(
    AddressID SERIAL,
    AddressLine1 varchar(60) NOT NULL,
    AddressLine2 varchar(60) NULL,
    City varchar(30) NOT NULL,
    StateProvinceID INT NOT NULL,
    PostalCode varchar(15) NOT NULL,
    SpatialLocation bytea NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE AddressType(AddressTypeID SERIAL, Name "Name" NOT NULL, rowguid uuid NOT NULL DEFAULT (gen_random_uuid()), ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()))
  CREATE TABLE BusinessEntityAddress(
    BusinessEntityID INT NOT NULL,
    AddressID INT NOT NULL,
    AddressTypeID INT NOT NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE EmailAddress(
    BusinessEntityID INT NOT NULL,
    EmailAddressID SERIAL,
    EmailAddress varchar(50) NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE Password(
    BusinessEntityID INT NOT NULL,
    PasswordHash VARCHAR(128) NOT NULL,
    PasswordSalt VARCHAR(10) NOT NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE PersonPhone(
    BusinessEntityID INT NOT NULL,
    PhoneNumber "Phone" NOT NULL,
    PhoneNumberTypeID INT NOT NULL,
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE PhoneNumberType(PhoneNumberTypeID SERIAL, Name "Name" NOT NULL, ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()))
  CREATE TABLE CountryRegion(CountryRegionCode varchar(3) NOT NULL, Name "Name" NOT NULL, ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()));

CREATE SCHEMA HumanResources
  CREATE TABLE Department(
    DepartmentID SERIAL NOT NULL,
    Name "Name" NOT NULL,
    GroupName "Name" NOT NULL,
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE Employee(
    BusinessEntityID INT NOT NULL,
    NationalIDNumber varchar(15) NOT NULL,
    LoginID varchar(256) NOT NULL,
    JobTitle varchar(50) NOT NULL,
    BirthDate DATE NOT NULL,
    MaritalStatus char(1) NOT NULL,
    Gender char(1) NOT NULL,
    HireDate DATE NOT NULL,
    SalariedFlag "Flag" NOT NULL DEFAULT (true),
    VacationHours smallint NOT NULL DEFAULT (0),
    SickLeaveHours smallint NOT NULL DEFAULT (0),
    CurrentFlag "Flag" NOT NULL DEFAULT (true),
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    OrganizationNode varchar DEFAULT '/',
    CONSTRAINT "CK_Employee_BirthDate" CHECK (BirthDate BETWEEN '1930-01-01' AND NOW() - INTERVAL '18 years'),
    CONSTRAINT "CK_Employee_MaritalStatus" CHECK (UPPER(MaritalStatus) IN ('M', 'S')),
    CONSTRAINT "CK_Employee_HireDate" CHECK (HireDate BETWEEN '1996-07-01' AND NOW() + INTERVAL '1 day'),
    CONSTRAINT "CK_Employee_Gender" CHECK (UPPER(Gender) IN ('M', 'F')),
    CONSTRAINT "CK_Employee_VacationHours" CHECK (VacationHours BETWEEN -40 AND 240),
    CONSTRAINT "CK_Employee_SickLeaveHours" CHECK (SickLeaveHours BETWEEN 0 AND 120)
  )
  CREATE TABLE EmployeeDepartmentHistory(
    BusinessEntityID INT NOT NULL,
    DepartmentID smallint NOT NULL,
    ShiftID smallint NOT NULL,
    StartDate DATE NOT NULL,
    EndDate DATE NULL,
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_EmployeeDepartmentHistory_EndDate" CHECK ((EndDate >= StartDate) OR (EndDate IS NULL))
  )
  CREATE TABLE EmployeePayHistory(
    BusinessEntityID INT NOT NULL,
    RateChangeDate TIMESTAMP NOT NULL,
    Rate numeric NOT NULL,
    PayFrequency smallint NOT NULL,
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_EmployeePayHistory_PayFrequency" CHECK (PayFrequency IN (1, 2)),
    CONSTRAINT "CK_EmployeePayHistory_Rate" CHECK (Rate BETWEEN 6.50 AND 200.00)
  )
  CREATE TABLE JobCandidate(
    JobCandidateID SERIAL NOT NULL,
    BusinessEntityID INT NULL,
    Resume XML NULL,
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE Shift(
    ShiftID SERIAL NOT NULL,
    Name "Name" NOT NULL,
    StartTime time NOT NULL,
    EndTime time NOT NULL,
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  );

CREATE SCHEMA Production
  CREATE TABLE BillOfMaterials(
    BillOfMaterialsID SERIAL NOT NULL,
    ProductAssemblyID INT NULL,
    ComponentID INT NOT NULL,
    StartDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    EndDate TIMESTAMP NULL,
    UnitMeasureCode char(3) NOT NULL,
    BOMLevel smallint NOT NULL,
    PerAssemblyQty decimal(8, 2) NOT NULL DEFAULT (1.00),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_BillOfMaterials_EndDate" CHECK ((EndDate > StartDate) OR (EndDate IS NULL)),
    CONSTRAINT "CK_BillOfMaterials_ProductAssemblyID" CHECK (ProductAssemblyID <> ComponentID),
    CONSTRAINT "CK_BillOfMaterials_BOMLevel" CHECK (((ProductAssemblyID IS NULL) AND (BOMLevel = 0) AND (PerAssemblyQty = 1.00))
      OR ((ProductAssemblyID IS NOT NULL) AND (BOMLevel >= 1))),
    CONSTRAINT "CK_BillOfMaterials_PerAssemblyQty" CHECK (PerAssemblyQty >= 1.00)
  )
  CREATE TABLE Culture(CultureID char(6) NOT NULL, Name "Name" NOT NULL, ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()))
  CREATE TABLE Document(
    Title varchar(50) NOT NULL,
    Owner INT NOT NULL,
    FolderFlag "Flag" NOT NULL DEFAULT (false),
    FileName varchar(400) NOT NULL,
    FileExtension varchar(8) NULL,
    Revision char(5) NOT NULL,
    ChangeNumber INT NOT NULL DEFAULT (0),
    Status smallint NOT NULL,
    DocumentSummary text NULL,
    Document bytea NULL,
    rowguid uuid NOT NULL UNIQUE DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    DocumentNode varchar NOT NULL DEFAULT '/',
    CONSTRAINT "CK_Document_Status" CHECK (Status BETWEEN 1 AND 3)
  )
  CREATE TABLE ProductCategory(ProductCategoryID SERIAL NOT NULL, Name "Name" NOT NULL, rowguid uuid NOT NULL DEFAULT (gen_random_uuid()), ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()))
  CREATE TABLE ProductSubcategory(
    ProductSubcategoryID SERIAL NOT NULL,
    ProductCategoryID INT NOT NULL,
    Name "Name" NOT NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE ProductModel(
    ProductModelID SERIAL NOT NULL,
    Name "Name" NOT NULL,
    CatalogDescription XML NULL,
    Instructions XML NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE Product(
    ProductID SERIAL NOT NULL,
    Name "Name" NOT NULL,
    ProductNumber varchar(25) NOT NULL,
    MakeFlag "Flag" NOT NULL DEFAULT (true),
    FinishedGoodsFlag "Flag" NOT NULL DEFAULT (true),
    Color varchar(15) NULL,
    SafetyStockLevel smallint NOT NULL,
    ReorderPoint smallint NOT NULL,
    StandardCost numeric NOT NULL,
    ListPrice numeric NOT NULL,
    Size varchar(5) NULL,
    SizeUnitMeasureCode char(3) NULL,
    WeightUnitMeasureCode char(3) NULL,
    Weight decimal(8, 2) NULL,
    DaysToManufacture INT NOT NULL,
    ProductLine char(2) NULL,
    Class char(2) NULL,
    Style char(2) NULL,
    ProductSubcategoryID INT NULL,
    ProductModelID INT NULL,
    SellStartDate TIMESTAMP NOT NULL,
    SellEndDate TIMESTAMP NULL,
    DiscontinuedDate TIMESTAMP NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_Product_SafetyStockLevel" CHECK (SafetyStockLevel > 0),
    CONSTRAINT "CK_Product_ReorderPoint" CHECK (ReorderPoint > 0),
    CONSTRAINT "CK_Product_StandardCost" CHECK (StandardCost >= 0.00),
    CONSTRAINT "CK_Product_ListPrice" CHECK (ListPrice >= 0.00),
    CONSTRAINT "CK_Product_Weight" CHECK (Weight > 0.00),
    CONSTRAINT "CK_Product_DaysToManufacture" CHECK (DaysToManufacture >= 0),
    CONSTRAINT "CK_Product_ProductLine" CHECK (UPPER(ProductLine) IN ('S', 'T', 'M', 'R') OR ProductLine IS NULL),
    CONSTRAINT "CK_Product_Class" CHECK (UPPER(Class) IN ('L', 'M', 'H') OR Class IS NULL),
    CONSTRAINT "CK_Product_Style" CHECK (UPPER(Style) IN ('W', 'M', 'U') OR Style IS NULL),
    CONSTRAINT "CK_Product_SellEndDate" CHECK ((SellEndDate >= SellStartDate) OR (SellEndDate IS NULL))
  )
  CREATE TABLE ProductDocument(ProductID INT NOT NULL, ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()), DocumentNode varchar NOT NULL)
  CREATE TABLE ProductInventory(
    ProductID INT NOT NULL,
    LocationID smallint NOT NULL,
    Shelf varchar(10) NOT NULL,
    Bin smallint NOT NULL,
    Quantity smallint NOT NULL DEFAULT (0),
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_ProductInventory_Bin" CHECK (Bin BETWEEN 0 AND 100)
  )
  CREATE TABLE Location(
    LocationID SERIAL NOT NULL,
    Name "Name" NOT NULL,
    CostRate numeric NOT NULL DEFAULT (0.00),
    Availability decimal(8, 2) NOT NULL DEFAULT (0.00),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_Location_CostRate" CHECK (CostRate >= 0.00)
  )
  CREATE TABLE UnitMeasure(UnitMeasureCode char(3) NOT NULL, Name "Name" NOT NULL, ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()));

CREATE SCHEMA Sales
  CREATE TABLE SalesTerritory(
    TerritoryID SERIAL NOT NULL,
    Name "Name" NOT NULL,
    CountryRegionCode varchar(3) NOT NULL,
    "group" varchar(50) NOT NULL,
    SalesYTD numeric NOT NULL DEFAULT (0.00),
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_SalesTerritory_SalesYTD" CHECK (SalesYTD >= 0.00)
  )
  CREATE TABLE Customer(
    CustomerID SERIAL NOT NULL,
    PersonID INT NULL,
    StoreID INT NULL,
    TerritoryID INT NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE SalesOrderHeader(
    SalesOrderID SERIAL NOT NULL,
    RevisionNumber smallint NOT NULL DEFAULT (0),
    OrderDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    DueDate TIMESTAMP NOT NULL,
    Status smallint NOT NULL DEFAULT (1),
    OnlineOrderFlag "Flag" NOT NULL DEFAULT (true),
    PurchaseOrderNumber "OrderNumber" NULL,
    AccountNumber "AccountNumber" NULL,
    CustomerID INT NOT NULL,
    SalesPersonID INT NULL,
    TerritoryID INT NULL,
    BillToAddressID INT NOT NULL,
    ShipToAddressID INT NOT NULL,
    SubTotal numeric NOT NULL DEFAULT (0.00),
    TaxAmt numeric NOT NULL DEFAULT (0.00),
    TotalDue numeric GENERATED ALWAYS AS (SubTotal + TaxAmt) STORED,
    Comment varchar(128) NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_SalesOrderHeader_Status" CHECK (Status BETWEEN 0 AND 8)
  )
  CREATE TABLE SalesOrderDetail(
    SalesOrderID INT NOT NULL,
    SalesOrderDetailID SERIAL NOT NULL,
    CarrierTrackingNumber varchar(25) NULL,
    OrderQty smallint NOT NULL,
    ProductID INT NOT NULL,
    UnitPrice numeric NOT NULL,
    UnitPriceDiscount numeric NOT NULL DEFAULT (0.0),
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW()),
    CONSTRAINT "CK_SalesOrderDetail_OrderQty" CHECK (OrderQty > 0)
  )
  CREATE TABLE SalesPerson(
    BusinessEntityID INT NOT NULL,
    TerritoryID INT NULL,
    SalesQuota numeric NULL,
    Bonus numeric NOT NULL DEFAULT (0.00),
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  )
  CREATE TABLE Store(
    BusinessEntityID INT NOT NULL,
    Name "Name" NOT NULL,
    SalesPersonID INT NULL,
    Demographics XML NULL,
    rowguid uuid NOT NULL DEFAULT (gen_random_uuid()),
    ModifiedDate TIMESTAMP NOT NULL DEFAULT (NOW())
  );

ALTER TABLE Person.BusinessEntity ADD CONSTRAINT "PK_BusinessEntity_BusinessEntityID" PRIMARY KEY (BusinessEntityID);
ALTER TABLE Person.Person ADD CONSTRAINT "PK_Person_BusinessEntityID" PRIMARY KEY (BusinessEntityID);
ALTER TABLE Person.StateProvince ADD CONSTRAINT "PK_StateProvince_StateProvinceID" PRIMARY KEY (StateProvinceID);
ALTER TABLE Person.Address ADD CONSTRAINT "PK_Address_AddressID" PRIMARY KEY (AddressID);
ALTER TABLE Person.AddressType ADD CONSTRAINT "PK_AddressType_AddressTypeID" PRIMARY KEY (AddressTypeID);
ALTER TABLE Person.BusinessEntityAddress ADD CONSTRAINT "PK_BusinessEntityAddress" PRIMARY KEY (BusinessEntityID, AddressID, AddressTypeID);
ALTER TABLE Person.EmailAddress ADD CONSTRAINT "PK_EmailAddress" PRIMARY KEY (BusinessEntityID, EmailAddressID);
ALTER TABLE Person.Password ADD CONSTRAINT "PK_Password_BusinessEntityID" PRIMARY KEY (BusinessEntityID);
ALTER TABLE Person.PersonPhone ADD CONSTRAINT "PK_PersonPhone" PRIMARY KEY (BusinessEntityID, PhoneNumber, PhoneNumberTypeID);
ALTER TABLE Person.PhoneNumberType ADD CONSTRAINT "PK_PhoneNumberType" PRIMARY KEY (PhoneNumberTypeID);
ALTER TABLE Person.CountryRegion ADD CONSTRAINT "PK_CountryRegion_CountryRegionCode" PRIMARY KEY (CountryRegionCode);
ALTER TABLE HumanResources.Department ADD CONSTRAINT "PK_Department_DepartmentID" PRIMARY KEY (DepartmentID);
ALTER TABLE HumanResources.Employee ADD CONSTRAINT "PK_Employee_BusinessEntityID" PRIMARY KEY (BusinessEntityID);
ALTER TABLE HumanResources.EmployeeDepartmentHistory ADD CONSTRAINT "PK_EmployeeDepartmentHistory" PRIMARY KEY (BusinessEntityID, StartDate, DepartmentID, ShiftID);
ALTER TABLE HumanResources.EmployeePayHistory ADD CONSTRAINT "PK_EmployeePayHistory" PRIMARY KEY (BusinessEntityID, RateChangeDate);
ALTER TABLE HumanResources.JobCandidate ADD CONSTRAINT "PK_JobCandidate_JobCandidateID" PRIMARY KEY (JobCandidateID);
ALTER TABLE HumanResources.Shift ADD CONSTRAINT "PK_Shift_ShiftID" PRIMARY KEY (ShiftID);
ALTER TABLE Production.BillOfMaterials ADD CONSTRAINT "PK_BillOfMaterials_BillOfMaterialsID" PRIMARY KEY (BillOfMaterialsID);
ALTER TABLE Production.Culture ADD CONSTRAINT "PK_Culture_CultureID" PRIMARY KEY (CultureID);
ALTER TABLE Production.Document ADD CONSTRAINT "PK_Document_DocumentNode" PRIMARY KEY (DocumentNode);
ALTER TABLE Production.ProductCategory ADD CONSTRAINT "PK_ProductCategory" PRIMARY KEY (ProductCategoryID);
ALTER TABLE Production.ProductSubcategory ADD CONSTRAINT "PK_ProductSubcategory" PRIMARY KEY (ProductSubcategoryID);
ALTER TABLE Production.ProductModel ADD CONSTRAINT "PK_ProductModel_ProductModelID" PRIMARY KEY (ProductModelID);
ALTER TABLE Production.Product ADD CONSTRAINT "PK_Product_ProductID" PRIMARY KEY (ProductID);
ALTER TABLE Production.ProductDocument ADD CONSTRAINT "PK_ProductDocument" PRIMARY KEY (ProductID, DocumentNode);
ALTER TABLE Production.ProductInventory ADD CONSTRAINT "PK_ProductInventory" PRIMARY KEY (ProductID, LocationID);
ALTER TABLE Production.Location ADD CONSTRAINT "PK_Location_LocationID" PRIMARY KEY (LocationID);
ALTER TABLE Production.UnitMeasure ADD CONSTRAINT "PK_UnitMeasure_UnitMeasureCode" PRIMARY KEY (UnitMeasureCode);
ALTER TABLE Sales.SalesTerritory ADD CONSTRAINT "PK_SalesTerritory_TerritoryID" PRIMARY KEY (TerritoryID);
ALTER TABLE Sales.Customer ADD CONSTRAINT "PK_Customer_CustomerID" PRIMARY KEY (CustomerID);
ALTER TABLE Sales.SalesOrderHeader ADD CONSTRAINT "PK_SalesOrderHeader_SalesOrderID" PRIMARY KEY (SalesOrderID);
ALTER TABLE Sales.SalesOrderDetail ADD CONSTRAINT "PK_SalesOrderDetail" PRIMARY KEY (SalesOrderID, SalesOrderDetailID);
ALTER TABLE Sales.SalesPerson ADD CONSTRAINT "PK_SalesPerson_BusinessEntityID" PRIMARY KEY (BusinessEntityID);
ALTER TABLE Sales.Store ADD CONSTRAINT "PK_Store_BusinessEntityID" PRIMARY KEY (BusinessEntityID);

ALTER TABLE Person.Person ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.BusinessEntity;
ALTER TABLE Person.StateProvince ADD FOREIGN KEY (CountryRegionCode) REFERENCES Person.CountryRegion, ADD FOREIGN KEY (TerritoryID) REFERENCES Sales.SalesTerritory;
ALTER TABLE Person.Address ADD FOREIGN KEY (StateProvinceID) REFERENCES Person.StateProvince;
ALTER TABLE Person.BusinessEntityAddress ADD FOREIGN KEY (AddressID) REFERENCES Person.Address, ADD FOREIGN KEY (AddressTypeID) REFERENCES Person.AddressType,
  ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.BusinessEntity;
ALTER TABLE Person.EmailAddress ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.Person;
ALTER TABLE Person.Password ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.Person;
ALTER TABLE Person.PersonPhone ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.Person, ADD FOREIGN KEY (PhoneNumberTypeID) REFERENCES Person.PhoneNumberType;
ALTER TABLE HumanResources.Employee ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.Person;
ALTER TABLE HumanResources.EmployeeDepartmentHistory ADD FOREIGN KEY (DepartmentID) REFERENCES HumanResources.Department,
  ADD FOREIGN KEY (BusinessEntityID) REFERENCES HumanResources.Employee, ADD FOREIGN KEY (ShiftID) REFERENCES HumanResources.Shift;
ALTER TABLE HumanResources.EmployeePayHistory ADD FOREIGN KEY (BusinessEntityID) REFERENCES HumanResources.Employee;
ALTER TABLE HumanResources.JobCandidate ADD FOREIGN KEY (BusinessEntityID) REFERENCES HumanResources.Employee;
ALTER TABLE Production.BillOfMaterials ADD FOREIGN KEY (ProductAssemblyID) REFERENCES Production.Product,
  ADD FOREIGN KEY (ComponentID) REFERENCES Production.Product, ADD FOREIGN KEY (UnitMeasureCode) REFERENCES Production.UnitMeasure;
ALTER TABLE Production.Document ADD FOREIGN KEY (Owner) REFERENCES HumanResources.Employee;
ALTER TABLE Production.ProductSubcategory ADD FOREIGN KEY (ProductCategoryID) REFERENCES Production.ProductCategory;
ALTER TABLE Production.Product ADD FOREIGN KEY (SizeUnitMeasureCode) REFERENCES Production.UnitMeasure, ADD FOREIGN KEY (WeightUnitMeasureCode) REFERENCES Production.UnitMeasure,
  ADD FOREIGN KEY (ProductModelID) REFERENCES Production.ProductModel, ADD FOREIGN KEY (ProductSubcategoryID) REFERENCES Production.ProductSubcategory;
ALTER TABLE Production.ProductDocument ADD FOREIGN KEY (ProductID) REFERENCES Production.Product, ADD FOREIGN KEY (DocumentNode) REFERENCES Production.Document;
ALTER TABLE Production.ProductInventory ADD FOREIGN KEY (LocationID) REFERENCES Production.Location, ADD FOREIGN KEY (ProductID) REFERENCES Production.Product;
ALTER TABLE Sales.SalesTerritory ADD FOREIGN KEY (CountryRegionCode) REFERENCES Person.CountryRegion;
ALTER TABLE Sales.Customer ADD FOREIGN KEY (PersonID) REFERENCES Person.Person, ADD FOREIGN KEY (StoreID) REFERENCES Sales.Store,
  ADD FOREIGN KEY (TerritoryID) REFERENCES Sales.SalesTerritory;
ALTER TABLE Sales.SalesOrderHeader ADD FOREIGN KEY (BillToAddressID) REFERENCES Person.Address, ADD FOREIGN KEY (ShipToAddressID) REFERENCES Person.Address,
  ADD FOREIGN KEY (CustomerID) REFERENCES Sales.Customer, ADD FOREIGN KEY (SalesPersonID) REFERENCES Sales.SalesPerson,
  ADD FOREIGN KEY (TerritoryID) REFERENCES Sales.SalesTerritory;
ALTER TABLE Sales.SalesOrderDetail ADD FOREIGN KEY (SalesOrderID) REFERENCES Sales.SalesOrderHeader ON DELETE CASCADE, ADD FOREIGN KEY (ProductID) REFERENCES Production.Product;
ALTER TABLE Sales.SalesPerson ADD FOREIGN KEY (BusinessEntityID) REFERENCES HumanResources.Employee, ADD FOREIGN KEY (TerritoryID) REFERENCES Sales.SalesTerritory;
ALTER TABLE Sales.Store ADD FOREIGN KEY (BusinessEntityID) REFERENCES Person.BusinessEntity, ADD FOREIGN KEY (SalesPersonID) REFERENCES Sales.SalesPerson;

CREATE VIEW HumanResources.vEmployee AS
SELECT e.BusinessEntityID, p.Title, p.FirstName, p.MiddleName, p.LastName, p.Suffix, e.JobTitle, ea.EmailAddress, p.EmailPromotion, p.AdditionalContactInfo
FROM HumanResources.Employee e INNER JOIN Person.Person p ON p.BusinessEntityID = e.BusinessEntityID
LEFT OUTER JOIN Person.EmailAddress ea ON p.BusinessEntityID = ea.BusinessEntityID;
CREATE MATERIALIZED VIEW Person.vStateProvinceCountryRegion AS
SELECT sp.StateProvinceID, sp.StateProvinceCode, sp.IsOnlyStateProvinceFlag, sp.Name AS StateProvinceName, sp.TerritoryID,
  cr.CountryRegionCode, cr.Name AS CountryRegionName
FROM Person.StateProvince sp INNER JOIN Person.CountryRegion cr ON sp.CountryRegionCode = cr.CountryRegionCode;
CREATE UNIQUE INDEX IX_vStateProvinceCountryRegion ON Person.vStateProvinceCountryRegion(StateProvinceID, CountryRegionCode);
CREATE SCHEMA pe CREATE VIEW a AS SELECT addressid AS id, * FROM person.address;
CREATE SCHEMA hr CREATE VIEW d AS SELECT departmentid AS id, * FROM humanresources.department;
